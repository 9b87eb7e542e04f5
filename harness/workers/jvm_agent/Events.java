package rocketchaos.agent;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/** The way out: one event a line, each a single write, with this machine's clocks. */
final class Events {
    private static final Gson GSON = new GsonBuilder().serializeNulls().disableHtmlEscaping().create();
    private final OutputStream pipe;

    Events(OutputStream pipe) {
        this.pipe = pipe;
    }

    void emit(String kind, JsonElement data) {
        JsonObject event = new JsonObject();
        // CLOCK_MONOTONIC, as the harness has it.
        event.addProperty("mono_ns", System.nanoTime());
        event.addProperty("wall_ms", System.currentTimeMillis());
        event.addProperty("kind", kind);
        event.add("data", data);
        byte[] line = (GSON.toJson(event) + "\n").getBytes(StandardCharsets.UTF_8);
        synchronized (pipe) {
            try {
                pipe.write(line);
            } catch (IOException gone) {
                // The harness is gone, and so is its interest.
                Runtime.getRuntime().halt(1);
            }
        }
    }
}
