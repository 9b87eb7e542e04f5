package rocketchaos.agent;

import com.google.gson.JsonArray;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonParser;
import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Paths;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.WeakHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.function.BiConsumer;

/** Speaks the protocol of workers (`harness.workers.protocol`) for a program that knows nothing of it. */
public final class Worker implements Runnable, BiConsumer<String, Object[]> {
    private static final String HOOK = ".client.hook.ConsumeMessageHook";
    private static final String VERSIONS = ".common.MQVersion";
    private static final String PUSH = "DefaultMQPushConsumerImpl";
    private static final String[] LITE_PULL_LACKS = {
        "tells_queues", "raises_version", "retries", "dead_letters", "commits_skipped"};
    private static final String LITE_PULL = "DefaultLitePullConsumerImpl";
    private final Members members;
    private final Events events;
    private final InputStream commands;
    private final CountDownLatch begun = new CountDownLatch(1);
    private final Map<Object, JsonObject> versions = new WeakHashMap<>();

    /** The plan names the events' file, and the consumers that are expected. */
    public Worker(String plan, InputStream commands) throws IOException {
        try (Reader text = Files.newBufferedReader(Paths.get(plan), StandardCharsets.UTF_8)) {
            JsonObject read = JsonParser.parseReader(text).getAsJsonObject();
            this.members = new Members(read.get("members"));
            this.events = new Events(new FileOutputStream(read.get("events").getAsString()));
        }
        this.commands = commands;
    }

    /** Say that it is ready, and return when the program is to begin. */
    @Override
    public void run() {
        Thread thread = new Thread(this::serve, "rocketchaos-commands");
        thread.setDaemon(true);
        thread.start();
        JsonObject ready = new JsonObject();
        ready.addProperty("pid", pid());
        events.emit("ready", ready);
        try {
            begun.await();
        } catch (InterruptedException ended) {
            Thread.currentThread().interrupt();
        }
    }

    private static long pid() {
        return Long.parseLong(ManagementFactory.getRuntimeMXBean().getName().split("@")[0]);
    }

    private void serve() {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(commands, StandardCharsets.UTF_8))) {
            String line;
            while ((line = lines.readLine()) != null) {
                JsonObject command = JsonParser.parseString(line).getAsJsonObject();
                Thread answer = new Thread(() -> answer(command), "rocketchaos-answer");
                answer.setDaemon(true);
                answer.start();
            }
        } catch (IOException gone) {
            gone.printStackTrace();
        }
        Runtime.getRuntime().halt(0);
    }

    private void answer(JsonObject command) {
        JsonObject reply = new JsonObject();
        try {
            JsonObject with = command.getAsJsonObject("with");
            switch (command.get("do").getAsString()) {
                case "ping":
                    reply.add("result", new JsonObject());
                    break;
                case "start-consumer":
                    start(with, reply);
                    break;
                default:
                    fail(reply, "a program of the user's own can't do this", null, false);
            }
        } catch (Throwable failure) {
            fail(reply, failure.toString(), null, true);
            reply.addProperty("traceback", failure.toString());
        }
        reply.add("id", command.get("id"));
        if (!reply.has("ok")) {
            reply.addProperty("ok", true);
        }
        events.emit("reply", reply);
    }

    private void start(JsonObject with, JsonObject reply) throws InterruptedException {
        begun.countDown();
        String name = with.get("name").getAsString();
        Members.Expected member = members.named(name);
        JsonObject how = member.await(with.get("limit_ms").getAsLong());
        if (how == null) {
            JsonObject missing = new JsonObject();
            missing.add("groups", groups());
            reply.add("result", missing);
        } else if (how.has("error")) {
            fail(reply, how.get("error").getAsString(), how.get("exceptions").getAsJsonArray(), false);
        } else {
            reply.add("result", how);
        }
    }

    private synchronized JsonArray groups() {
        TreeSet<String> found = new TreeSet<>();
        for (Object consumer : versions.keySet()) {
            try {
                found.add(group(consumer));
            } catch (ReflectiveOperationException unknown) {
                found.add("?");
            }
        }
        JsonArray groups = new JsonArray();
        found.forEach(groups::add);
        return groups;
    }

    private static void fail(JsonObject reply, String error, JsonArray exceptions, boolean defect) {
        reply.addProperty("ok", false);
        reply.addProperty("error", error);
        reply.add("code", null);
        reply.add("exceptions", exceptions == null ? new JsonArray() : exceptions);
        reply.addProperty("defect", defect);
    }

    /** Told by {@link Bridge}, in the program's own threads. */
    @Override
    public void accept(String what, Object[] told) {
        try {
            Object consumer = told[0];
            if (what.equals("starting")) {
                starting(consumer);
            } else if (what.equals("started")) {
                started(consumer);
            } else if (what.equals("subscribed")) {
                subscribed(consumer);
            } else {
                refused(consumer, (Throwable) told[1]);
            }
        } catch (ReflectiveOperationException failure) {
            JsonObject data = new JsonObject();
            data.addProperty("error", Reflection.cause(failure).toString());
            events.emit("listener-error", data);
        }
    }

    private void starting(Object consumer) throws ReflectiveOperationException {
        synchronized (this) {
            if (versions.containsKey(consumer)) {
                return;
            }
            versions.put(consumer, subVersions(consumer));
        }
        String group = group(consumer);
        Members.Expected member = members.take(consumer, group, subscriptions(consumer));
        if (member == null) {
            return;
        }
        JsonObject own = new JsonObject();
        own.addProperty("consumer", member.name);
        own.add("subscribe", member.subscribed);
        own.addProperty("pid", pid());
        events.emit("program-subscription", own);
        Class<?> hook = Class.forName(packages(consumer) + HOOK, false, consumer.getClass().getClassLoader());
        Object proxy =
            Proxy.newProxyInstance(hook.getClassLoader(), new Class<?>[] {hook}, new Hook(member.name, events));
        consumer.getClass().getMethod("registerConsumeMessageHook", hook).invoke(consumer, proxy);
    }

    private void started(Object consumer) throws ReflectiveOperationException {
        Members.Expected member = members.of(consumer);
        if (member == null) {
            return;
        }
        subscribed(consumer);
        JsonObject own;
        synchronized (this) {
            own = versions.get(consumer);
        }
        JsonObject how = new JsonObject();
        how.addProperty("client_id", Reflection.text(facade(consumer), "buildMQClientId"));
        how.add("versions", own);
        how.add("subscribe", subscriptions(consumer));
        how.addProperty("client_version", clientVersion(consumer));
        how.addProperty("model", Reflection.text(facade(consumer), "getMessageModel").toLowerCase(Locale.ROOT));
        how.add("traits", traits(consumer));
        if (!member.settle(how)) {
            how.addProperty("consumer", member.name);
            events.emit("begun-anew", how);
        }
    }

    /** Tell what it subscribes to in addition to what it has told, or in its place. */
    private void subscribed(Object consumer) throws ReflectiveOperationException {
        Members.Expected member = members.of(consumer);
        if (member == null) {
            return;
        }
        synchronized (member) {
            JsonObject before = member.subscribed;
            member.subscribed = subscriptions(consumer);
            for (String topic : member.subscribed.keySet()) {
                if (!member.subscribed.get(topic).equals(before.get(topic))) {
                    JsonObject change = change(member, topic);
                    change.add("expression", member.subscribed.get(topic));
                    events.emit("subscribed", change);
                }
            }
            for (String topic : before.keySet()) {
                if (!member.subscribed.has(topic)) {
                    events.emit("unsubscribed", change(member, topic));
                }
            }
        }
    }

    private static JsonObject change(Members.Expected member, String topic) {
        JsonObject change = new JsonObject();
        change.addProperty("consumer", member.name);
        change.addProperty("topic", topic);
        return change;
    }

    private void refused(Object consumer, Throwable thrown) {
        Members.Expected member = members.of(consumer);
        if (member == null) {
            return;
        }
        JsonObject how = new JsonObject();
        String[] lines = String.valueOf(thrown.getMessage()).trim().split("\n");
        how.addProperty("error", "start() of its consumer of the group " + member.group + " has thrown "
            + thrown.getClass().getSimpleName() + ": " + lines[0].trim());
        JsonArray exceptions = new JsonArray();
        for (Throwable item = thrown; item != null; item = item.getCause()) {
            exceptions.add(item.getClass().getSimpleName());
        }
        how.add("exceptions", exceptions);
        member.refuse(how);
    }

    private static Object facade(Object consumer) throws ReflectiveOperationException {
        Class<?> own = implementation(consumer);
        if (own.getSimpleName().equals(PUSH)) {
            return Reflection.get(consumer, "getDefaultMQPushConsumer");
        }
        java.lang.reflect.Field field = own.getDeclaredField("defaultLitePullConsumer");
        field.setAccessible(true);
        return field.get(consumer);
    }

    /** RocketMQ's own class, of which a program may have made another. */
    private static Class<?> implementation(Object consumer) {
        Class<?> own = consumer.getClass();
        while (!own.getSimpleName().equals(PUSH) && !own.getSimpleName().equals(LITE_PULL)) {
            own = own.getSuperclass();
        }
        return own;
    }

    /** `org.apache.rocketmq`, or what a build has made of it by relocating (shading) the classes. */
    private static String packages(Object consumer) {
        String name = implementation(consumer).getName();
        return name.substring(0, name.lastIndexOf(".client.impl.consumer."));
    }

    /** How a lite pull consumer consumes, other than a push consumer; the names are those of `Api`. */
    private static JsonObject traits(Object consumer) {
        JsonObject traits = new JsonObject();
        if (implementation(consumer).getSimpleName().equals(LITE_PULL)) {
            traits.addProperty("filters_by", "own");
            for (String name : LITE_PULL_LACKS) {
                traits.addProperty(name, false);
            }
        }
        return traits;
    }

    /** Whether it is shut down. */
    static boolean isOver(Object consumer) {
        try {
            java.lang.reflect.Field state = implementation(consumer).getDeclaredField("serviceState");
            state.setAccessible(true);
            return "SHUTDOWN_ALREADY".equals(String.valueOf(state.get(consumer)));
        } catch (ReflectiveOperationException unknown) {
            return false;
        }
    }

    private static String group(Object consumer) throws ReflectiveOperationException {
        return Reflection.text(facade(consumer), "getConsumerGroup");
    }

    /** By topic, as the harness has them: tags, or `{"sql": ...}`. */
    private static JsonObject subscriptions(Object consumer) throws ReflectiveOperationException {
        JsonObject found = new JsonObject();
        for (Object item : (Iterable<?>) Reflection.get(consumer, "subscriptions")) {
            String topic = Reflection.text(item, "getTopic");
            String expression = Reflection.text(item, "getSubString");
            if (topic.startsWith("%RETRY%")) {
                continue;
            }
            if ("SQL92".equals(Reflection.text(item, "getExpressionType"))) {
                JsonObject sql = new JsonObject();
                sql.addProperty("sql", expression);
                found.add(topic, sql);
            } else {
                found.addProperty(topic, expression);
            }
        }
        return found;
    }

    /** `5.0.0`, of the client's own jar. */
    private static String clientVersion(Object consumer) throws ReflectiveOperationException {
        Class<?> versions =
            Class.forName(packages(consumer) + VERSIONS, true, consumer.getClass().getClassLoader());
        Object current = versions.getField("CURRENT_VERSION").get(null);
        Object name = versions.getMethod("getVersionDesc", int.class).invoke(null, current);
        return name.toString().replaceFirst("^V", "").replace('_', '.');
    }

    private static JsonObject subVersions(Object consumer) throws ReflectiveOperationException {
        JsonObject found = new JsonObject();
        for (Object item : (Iterable<?>) Reflection.get(consumer, "subscriptions")) {
            found.addProperty(Reflection.text(item, "getTopic"), (Number) Reflection.get(item, "getSubVersion"));
        }
        return found;
    }
}
