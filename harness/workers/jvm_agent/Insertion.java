package rocketchaos.agent;

import java.lang.instrument.ClassFileTransformer;
import java.security.ProtectionDomain;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;

/**
 * Has RocketMQ's consumers say when they start: `start()` of their implementations calls {@link Bridge} first, before
 * it returns, and before it throws. So the hook is there before the first message, whatever the timing. Their
 * `subscribe` and `unsubscribe` call it before they return.
 *
 * Rests on DefaultMQPushConsumerImpl and DefaultLitePullConsumerImpl as they are from RocketMQ 4.9.3 to 5.5.0.
 */
public final class Insertion implements ClassFileTransformer {
    /** Where a build relocates (shades) RocketMQ's classes, the packages before this are others. */
    private static final String PACKAGE = "/client/impl/consumer/";
    private static final Set<String> CLASSES = new HashSet<>(
        Arrays.asList("DefaultMQPushConsumerImpl", "DefaultLitePullConsumerImpl"));

    @Override
    public byte[] transform(
        ClassLoader loader, String name, Class<?> before, ProtectionDomain domain, byte[] content) {
        int place = name == null ? -1 : name.lastIndexOf(PACKAGE);
        if (place < 0 || !CLASSES.contains(name.substring(place + PACKAGE.length()))) {
            return null;
        }
        try {
            ClassReader reader = new ClassReader(content);
            ClassWriter writer = new ClassWriter(reader, ClassWriter.COMPUTE_MAXS);
            reader.accept(new Start(writer), 0);
            return writer.toByteArray();
        } catch (Throwable failure) {
            // The JVM would swallow it, and the consumer would be started unseen.
            failure.printStackTrace();
            return null;
        }
    }

    private static final class Start extends ClassVisitor {
        private String name;

        Start(ClassVisitor next) {
            super(Opcodes.ASM9, next);
        }

        @Override
        public void visit(
            int version, int access, String name, String signature, String superName, String[] interfaces) {
            this.name = name;
            super.visit(version, access, name, signature, superName, interfaces);
        }

        @Override
        public MethodVisitor visitMethod(
            int access, String name, String descriptor, String signature, String[] exceptions) {
            MethodVisitor next = super.visitMethod(access, name, descriptor, signature, exceptions);
            if (name.equals("start") && descriptor.equals("()V")) {
                return new Calls(next, this.name);
            }
            return name.equals("subscribe") || name.equals("unsubscribe") ? new Returns(next, "subscribed") : next;
        }
    }

    /** Tells, before a method of a consumer returns, what it has done. */
    private static class Returns extends MethodVisitor {
        private final String done;

        Returns(MethodVisitor next, String done) {
            super(Opcodes.ASM9, next);
            this.done = done;
        }

        @Override
        public void visitInsn(int opcode) {
            if (opcode == Opcodes.RETURN) {
                tell(done);
            }
            super.visitInsn(opcode);
        }

        final void tell(String what) {
            super.visitLdcInsn(what);
            super.visitVarInsn(Opcodes.ALOAD, 0);
            super.visitInsn(Opcodes.ACONST_NULL);
            call();
        }

        final void call() {
            super.visitMethodInsn(Opcodes.INVOKESTATIC, "rocketchaos/agent/Bridge", "tell",
                "(Ljava/lang/String;Ljava/lang/Object;Ljava/lang/Object;)V", false);
        }
    }

    private static final class Calls extends Returns {
        private static final String THROWN = "java/lang/Throwable";
        private final String owner;
        private final Label begin = new Label();

        Calls(MethodVisitor next, String owner) {
            super(next, "started");
            this.owner = owner;
        }

        @Override
        public void visitCode() {
            super.visitCode();
            super.visitLabel(begin);
            tell("starting");
        }

        /** All that leaves the method by an exception, also one of what it calls, comes here last. */
        @Override
        public void visitMaxs(int maxStack, int maxLocals) {
            Label end = new Label();
            super.visitTryCatchBlock(begin, end, end, THROWN);
            super.visitLabel(end);
            super.visitFrame(Opcodes.F_FULL, 1, new Object[] {owner}, 1, new Object[] {THROWN});
            super.visitInsn(Opcodes.DUP);
            super.visitLdcInsn("refused");
            super.visitInsn(Opcodes.SWAP);
            super.visitVarInsn(Opcodes.ALOAD, 0);
            super.visitInsn(Opcodes.SWAP);
            call();
            super.visitInsn(Opcodes.ATHROW);
            super.visitMaxs(maxStack, maxLocals);
        }
    }
}
