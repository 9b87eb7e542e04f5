package rocketchaos.agent;

import java.util.function.BiConsumer;

/** What RocketMQ's consumers call where {@link Insertion} has put it. */
public final class Bridge {
    static volatile BiConsumer<String, Object[]> listener;

    private Bridge() {
    }

    /** Of a consumer's implementation: `starting`, `started`, `subscribed`, or `refused` with an exception. Never throws. */
    public static void tell(String what, Object consumer, Object thrown) {
        try {
            listener.accept(what, new Object[] {consumer, thrown});
        } catch (Throwable failure) {
            failure.printStackTrace();
        }
    }
}
