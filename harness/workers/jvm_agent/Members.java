package rocketchaos.agent;

import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.util.ArrayList;
import java.util.List;

/** Which consumer of the scenario each of the program's is: by its group, then by what it subscribes to. */
final class Members {
    private final List<Expected> expected = new ArrayList<>();

    Members(JsonElement plan) {
        for (JsonElement item : plan.getAsJsonArray()) {
            JsonObject member = item.getAsJsonObject();
            expected.add(new Expected(member.get("name").getAsString(), member.get("group").getAsString(),
                member.getAsJsonObject("subscribe")));
        }
    }

    /** The one that this is from now on; null: the scenario has no such consumer. */
    synchronized Expected take(String group, JsonObject subscribe) {
        Expected found = null;
        for (Expected item : expected) {
            boolean free = item.group.equals(group) && !item.taken;
            if (free && (found == null || item.subscribe.equals(subscribe))) {
                found = item;
                if (item.subscribe.equals(subscribe)) {
                    break;
                }
            }
        }
        if (found != null) {
            found.taken = true;
        }
        return found;
    }

    synchronized Expected named(String name) {
        for (Expected item : expected) {
            if (item.name.equals(name)) {
                return item;
            }
        }
        return null;
    }

    /** A consumer of the scenario. */
    static final class Expected {
        final String name;
        final String group;
        final JsonObject subscribe;
        private boolean taken;
        private JsonObject answer;

        Expected(String name, String group, JsonObject subscribe) {
            this.name = name;
            this.group = group;
            this.subscribe = subscribe;
        }

        synchronized void settle(JsonObject how) {
            if (answer == null) {
                answer = how;
                notifyAll();
            }
        }

        /** How its start ended; null where it has not within the limit. */
        synchronized JsonObject await(long limitMs) throws InterruptedException {
            long deadline = System.nanoTime() + limitMs * 1_000_000;
            long left;
            while (answer == null && (left = deadline - System.nanoTime()) > 0) {
                wait(left / 1_000_000 + 1);
            }
            return answer;
        }
    }
}
