package rocketchaos.agent;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Calls of RocketMQ's methods, whichever class loader of the program has brought them. */
final class Reflection {
    private static final Map<Class<?>, Map<String, Method>> METHODS = new ConcurrentHashMap<>();

    private Reflection() {
    }

    /** What a method without parameters answers. */
    static Object get(Object owner, String name) throws ReflectiveOperationException {
        Map<String, Method> own = METHODS.computeIfAbsent(owner.getClass(), ignored -> new ConcurrentHashMap<>());
        Method method = own.get(name);
        if (method == null) {
            method = owner.getClass().getMethod(name);
            method.setAccessible(true);
            own.put(name, method);
        }
        return method.invoke(owner);
    }

    static String text(Object owner, String name) throws ReflectiveOperationException {
        Object found = get(owner, name);
        return found == null ? null : found.toString();
    }

    static Throwable cause(Throwable failure) {
        boolean wrapped = failure instanceof InvocationTargetException && failure.getCause() != null;
        return wrapped ? failure.getCause() : failure;
    }
}
