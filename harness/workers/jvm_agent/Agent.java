package rocketchaos.agent;

import java.io.ByteArrayInputStream;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.lang.instrument.ClassFileTransformer;
import java.lang.instrument.Instrumentation;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Paths;

/**
 * The worker inside a user's program: started before its main method, which runs once the harness allows it.
 *
 * What it needs of libraries lives in a class loader of its own, so that the program sees its own versions alone.
 */
public final class Agent {
    private Agent() {
    }

    /** Called by the JVM with the file that says which consumers are expected, see `harness.workers.app_home`. */
    public static void premain(String plan, Instrumentation jvm) throws Exception {
        FileInputStream commands = new FileInputStream(FileDescriptor.in);
        System.setIn(new ByteArrayInputStream(new byte[0]));
        URL own = Agent.class.getProtectionDomain().getCodeSource().getLocation();
        String[] words = plan.split(java.io.File.pathSeparator);
        URL[] urls = new URL[words.length];
        urls[0] = own;
        for (int i = 1; i < words.length; i++) {
            urls[i] = Paths.get(words[i]).toUri().toURL();
        }
        ClassLoader loader = new URLClassLoader(urls, ClassLoader.getSystemClassLoader().getParent());
        Class<?> worker = loader.loadClass("rocketchaos.agent.Worker");
        Runnable logic = (Runnable) worker.getConstructor(String.class, java.io.InputStream.class)
            .newInstance(words[0], commands);
        Bridge.listener = cast(logic);
        Class<?> insertion = loader.loadClass("rocketchaos.agent.Insertion");
        jvm.addTransformer((ClassFileTransformer) insertion.getConstructor().newInstance());
        logic.run();
    }

    @SuppressWarnings("unchecked")
    private static java.util.function.BiConsumer<String, Object[]> cast(Object logic) {
        return (java.util.function.BiConsumer<String, Object[]>) logic;
    }
}
