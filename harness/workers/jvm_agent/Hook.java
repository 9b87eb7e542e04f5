package rocketchaos.agent;

import com.google.gson.JsonArray;
import com.google.gson.JsonNull;
import com.google.gson.JsonObject;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.util.List;

/** RocketMQ's ConsumeMessageHook of one consumer: one event for each message, before its listener and after. */
final class Hook implements InvocationHandler {
    private final String consumer;
    private final Events events;

    Hook(String consumer, Events events) {
        this.consumer = consumer;
        this.events = events;
    }

    @Override
    public Object invoke(Object proxy, Method method, Object[] arguments) {
        switch (method.getName()) {
            case "hookName":
            case "toString":
                return "rocketchaos";
            case "hashCode":
                return System.identityHashCode(proxy);
            case "equals":
                return proxy == arguments[0];
            default:
                tell(method.getName().equals("consumeMessageBefore"), arguments[0]);
                return null;
        }
    }

    private void tell(boolean before, Object context) {
        try {
            Object queue = Reflection.get(context, "getMq");
            String status = before ? null : Reflection.text(context, "getStatus");
            List<?> messages = (List<?>) Reflection.get(context, "getMsgList");
            for (Object message : messages) {
                JsonObject data = identity(message);
                if (before) {
                    describe(message, queue, data);
                } else {
                    data.addProperty("status", status);
                }
                events.emit(before ? "received" : "consumed", data);
            }
        } catch (Throwable failure) {
            Throwable cause = Reflection.cause(failure);
            JsonObject data = new JsonObject();
            data.addProperty("consumer", consumer);
            data.addProperty("error", cause.toString());
            events.emit("listener-error", data);
        }
    }

    private JsonObject identity(Object message) throws ReflectiveOperationException {
        String[] keys = keys(message);
        JsonObject data = new JsonObject();
        data.addProperty("consumer", consumer);
        data.addProperty("key", keys.length == 0 ? null : keys[0]);
        data.addProperty("msg_id", Reflection.text(message, "getMsgId"));
        // A MessageExt that is no MessageClientExt has no id of its place.
        boolean placed = message.getClass().getSimpleName().equals("MessageClientExt");
        data.addProperty("offset_msg_id", placed ? Reflection.text(message, "getOffsetMsgId") : null);
        return data;
    }

    private static void describe(Object message, Object queue, JsonObject data) throws ReflectiveOperationException {
        String[] keys = keys(message);
        JsonArray further = new JsonArray();
        for (int i = 1; i < keys.length; i++) {
            further.add(keys[i]);
        }
        data.add("keys", further);
        data.addProperty("topic", Reflection.text(message, "getTopic"));
        String tag = Reflection.text(message, "getTags");
        if (tag == null) {
            data.add("tag", JsonNull.INSTANCE);
        } else {
            data.addProperty("tag", tag);
        }
        data.addProperty("broker", Reflection.text(queue, "getBrokerName"));
        data.addProperty("queue_id", (Number) Reflection.get(message, "getQueueId"));
        data.addProperty("offset", (Number) Reflection.get(message, "getQueueOffset"));
        data.addProperty("reconsume_times", (Number) Reflection.get(message, "getReconsumeTimes"));
    }

    private static String[] keys(Object message) throws ReflectiveOperationException {
        String text = Reflection.text(message, "getKeys");
        return text == null || text.trim().isEmpty() ? new String[0] : text.trim().split("\\s+");
    }
}
