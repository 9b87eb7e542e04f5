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

    /** The one that this is from now on; null: the scenario has no such consumer, or another one is it. */
    synchronized Expected take(Object consumer, String group, JsonObject subscribe) {
        Expected found = null;
        for (Expected item : expected) {
            boolean free = item.group.equals(group) && item.isFree();
            if (free && (found == null || item.subscribe.equals(subscribe))) {
                found = item;
                if (item.subscribe.equals(subscribe)) {
                    break;
                }
            }
        }
        if (found != null) {
            found.begin(consumer, subscribe);
        }
        return found;
    }

    /** The one that a consumer of the program is. */
    synchronized Expected of(Object consumer) {
        for (Expected item : expected) {
            if (item.is(consumer)) {
                return item;
            }
        }
        return null;
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
        private static final long LOOK_EVERY_MS = 100;
        final String name;
        final String group;
        final JsonObject subscribe;
        /** What its consumer has told to subscribe to. */
        JsonObject subscribed;
        private Object consumer;
        private Thread starter;
        private JsonObject refusal;
        private JsonObject answer;

        Expected(String name, String group, JsonObject subscribe) {
            this.name = name;
            this.group = group;
            this.subscribe = subscribe;
        }

        /** Also once its consumer is shut down: a program may make another one then. */
        private synchronized boolean isFree() {
            return consumer == null || Worker.isOver(consumer);
        }

        private synchronized boolean is(Object other) {
            return consumer == other;
        }

        private synchronized void begin(Object consumer, JsonObject subscribe) {
            this.consumer = consumer;
            subscribed = subscribe;
            starter = Thread.currentThread();
        }

        /** False: its program has started one before, so that this is another one. */
        synchronized boolean settle(JsonObject how) {
            if (answer != null) {
                return false;
            }
            answer = how;
            notifyAll();
            return true;
        }

        /** A start() has thrown. The program may try again as long as the thread lives that called it. */
        synchronized void refuse(JsonObject how) {
            refusal = how;
            consumer = null;
        }

        /** How its start ended: also with its last refusal; null where nothing came of it within the limit. */
        synchronized JsonObject await(long limitMs) throws InterruptedException {
            long deadline = System.nanoTime() + limitMs * 1_000_000;
            long left;
            while (answer == null && (left = deadline - System.nanoTime()) > 0) {
                if (refusal != null && consumer == null && !starter.isAlive()) {
                    break;
                }
                wait(Math.min(LOOK_EVERY_MS, left / 1_000_000 + 1));
            }
            return answer == null ? refusal : answer;
        }
    }
}
