package io.github.holdfast.schedules;

import java.util.HashMap;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.objectweb.asm.ClassReader;
import org.objectweb.asm.ClassVisitor;
import org.objectweb.asm.ClassWriter;
import org.objectweb.asm.FieldVisitor;
import org.objectweb.asm.Handle;
import org.objectweb.asm.Label;
import org.objectweb.asm.MethodVisitor;
import org.objectweb.asm.Opcodes;
import org.objectweb.asm.Type;
import org.objectweb.asm.commons.AdviceAdapter;

/**
 * Changes classes so that they tell the schedule of what other threads may notice, and
 * wait, and ask for the time, under the schedule.
 */
final class Weaver {

	private static final String HOOKS = Type.getInternalName(Hooks.class);

	private static final String THREAD = "java/lang/Thread";

	/** Classes of the JDK, and those that take their place. */
	private static final Map<String, String> REPLACED = Map.of("java/util/concurrent/locks/ReentrantLock",
			Type.getInternalName(ControlledLock.class), "java/util/concurrent/ConcurrentHashMap",
			Type.getInternalName(ControlledMap.class), "java/util/concurrent/ScheduledThreadPoolExecutor",
			Type.getInternalName(ControlledTimer.class), "java/util/concurrent/ThreadPoolExecutor",
			Type.getInternalName(ControlledPool.class));

	private final Sources sources;

	/** The modifiers of the fields of each class. */
	private final Map<String, Map<String, Integer>> fields = new HashMap<>();

	Weaver(Sources sources) {
		this.sources = sources;
	}

	byte[] weave(byte[] bytes) {
		ClassReader reader = new ClassReader(bytes);
		ClassWriter writer = new ClassWriter(ClassWriter.COMPUTE_MAXS);
		reader.accept(new Woven(writer), ClassReader.EXPAND_FRAMES);
		return writer.toByteArray();
	}

	private boolean isVolatile(String owner, String field) {
		if (!owner.startsWith("io/github/holdfast/") && !owner.startsWith("org/springframework/util/function/")) {
			return false;
		}
		Integer access = this.fields.computeIfAbsent(owner, this::read).get(field);
		return access != null && (access & Opcodes.ACC_VOLATILE) != 0;
	}

	private Map<String, Integer> read(String owner) {
		Map<String, Integer> fields = new HashMap<>();
		byte[] bytes = this.sources.bytes(owner.replace('/', '.'));
		if (bytes != null) {
			new ClassReader(bytes).accept(new ClassVisitor(Opcodes.ASM9) {

				@Override
				public @Nullable FieldVisitor visitField(int access, String name, String descriptor,
						@Nullable String signature, @Nullable Object value) {
					fields.put(name, access);
					return null;
				}

			}, ClassReader.SKIP_CODE);
		}
		return fields;
	}

	/**
	 * Where the bytes of classes come from.
	 */
	@FunctionalInterface
	interface Sources {

		byte @Nullable [] bytes(String className);

	}

	private final class Woven extends ClassVisitor {

		private String name = "";

		private Woven(ClassVisitor next) {
			super(Opcodes.ASM9, next);
		}

		@Override
		public void visit(int version, int access, String name, @Nullable String signature, String superName,
				String @Nullable [] interfaces) {
			this.name = name;
			super.visit(version, access, name, signature, superName, interfaces);
		}

		@Override
		public MethodVisitor visitMethod(int access, String name, String descriptor, @Nullable String signature,
				String @Nullable [] exceptions) {
			boolean isSynchronized = (access & Opcodes.ACC_SYNCHRONIZED) != 0;
			MethodVisitor next = super.visitMethod(access & ~Opcodes.ACC_SYNCHRONIZED, name, descriptor, signature,
					exceptions);
			if (name.equals("<clinit>")) {
				next = new AtomicMethod(next, access, name, descriptor);
			}
			if (isSynchronized) {
				next = new SynchronizedMethod(next, this.name);
			}
			return new Code(next, name.startsWith("<"));
		}

	}

	private final class Code extends MethodVisitor {

		private final boolean creates;

		private Code(MethodVisitor next, boolean creates) {
			super(Opcodes.ASM9, next);
			this.creates = creates;
		}

		private void hook(String name, String descriptor) {
			super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, name, descriptor, false);
		}

		@Override
		public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
			if (!this.creates && isVolatile(owner, name)) {
				hook("point", "()V");
			}
			super.visitFieldInsn(opcode, owner, name, descriptor);
		}

		@Override
		public void visitInsn(int opcode) {
			if (opcode == Opcodes.MONITORENTER) {
				hook("monitorEnter", "(Ljava/lang/Object;)V");
			}
			else if (opcode == Opcodes.MONITOREXIT) {
				hook("monitorExit", "(Ljava/lang/Object;)V");
			}
			else {
				super.visitInsn(opcode);
			}
		}

		@Override
		public void visitTypeInsn(int opcode, String type) {
			super.visitTypeInsn(opcode, (opcode == Opcodes.NEW) ? REPLACED.getOrDefault(type, type) : type);
		}

		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
			String call = owner + "." + name;
			if (opcode == Opcodes.INVOKESPECIAL && name.equals("<init>") && REPLACED.containsKey(owner)) {
				super.visitMethodInsn(opcode, REPLACED.get(owner), name, descriptor, isInterface);
			}
			else if (call.equals("java/lang/System.nanoTime") || call.equals(THREAD + ".interrupted")
					|| call.equals("java/util/concurrent/locks/LockSupport.parkNanos")
					|| call.equals("java/util/concurrent/locks/LockSupport.unpark")) {
				hook(name, descriptor);
			}
			else if (call.equals(THREAD + ".interrupt")) {
				hook(name, "(Ljava/lang/Thread;)V");
			}
			else if (call.equals(THREAD + ".isInterrupted")) {
				hook(name, "(Ljava/lang/Thread;)Z");
			}
			else if (call.equals("java/util/concurrent/TimeUnit.sleep")) {
				hook(name, "(Ljava/util/concurrent/TimeUnit;J)V");
			}
			else if (call.equals("java/util/concurrent/CompletableFuture.join")) {
				hook(name, "(Ljava/util/concurrent/CompletableFuture;)Ljava/lang/Object;");
			}
			else if (call.equals("java/util/concurrent/ConcurrentHashMap.newKeySet")) {
				hook(name, "()Ljava/util/Set;");
			}
			else {
				if (isNoticed(owner) && opcode != Opcodes.INVOKESPECIAL && opcode != Opcodes.INVOKESTATIC) {
					hook("point", "()V");
				}
				super.visitMethodInsn(opcode, owner, name, descriptor, isInterface);
			}
		}

		private boolean isNoticed(String owner) {
			return owner.startsWith("java/util/concurrent/atomic/")
					|| owner.equals("java/util/concurrent/CompletableFuture")
					|| owner.equals("java/util/concurrent/CompletionStage");
		}

		@Override
		public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... arguments) {
			Object[] replaced = arguments.clone();
			for (int i = 0; i < replaced.length; i++) {
				if (replaced[i] instanceof Handle handle && handle.getOwner().equals("java/lang/System")
						&& handle.getName().equals("nanoTime")) {
					replaced[i] = new Handle(handle.getTag(), HOOKS, handle.getName(), handle.getDesc(), false);
				}
			}
			super.visitInvokeDynamicInsn(name, descriptor, bootstrap, replaced);
		}

	}

	/**
	 * The JVM holds a lock while it initializes a class.
	 */
	private static final class AtomicMethod extends AdviceAdapter {

		private AtomicMethod(MethodVisitor next, int access, String name, String descriptor) {
			super(Opcodes.ASM9, next, access, name, descriptor);
		}

		@Override
		protected void onMethodEnter() {
			super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, "enterAtomic", "()V", false);
		}

		@Override
		protected void onMethodExit(int opcode) {
			super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, "exitAtomic", "()V", false);
		}

	}

	private static final class SynchronizedMethod extends MethodVisitor {

		private final String owner;

		private final Label begin = new Label();

		private final Label end = new Label();

		private SynchronizedMethod(MethodVisitor next, String owner) {
			super(Opcodes.ASM9, next);
			this.owner = owner;
		}

		private void monitor(String hook) {
			super.visitVarInsn(Opcodes.ALOAD, 0);
			super.visitMethodInsn(Opcodes.INVOKESTATIC, HOOKS, hook, "(Ljava/lang/Object;)V", false);
		}

		@Override
		public void visitCode() {
			super.visitCode();
			monitor("monitorEnter");
			super.visitLabel(this.begin);
		}

		@Override
		public void visitInsn(int opcode) {
			if (opcode >= Opcodes.IRETURN && opcode <= Opcodes.RETURN) {
				monitor("monitorExit");
			}
			super.visitInsn(opcode);
		}

		@Override
		public void visitMaxs(int maxStack, int maxLocals) {
			super.visitLabel(this.end);
			super.visitTryCatchBlock(this.begin, this.end, this.end, null);
			super.visitFrame(Opcodes.F_NEW, 1, new Object[] { this.owner }, 1, new Object[] { "java/lang/Throwable" });
			monitor("monitorExit");
			super.visitInsn(Opcodes.ATHROW);
			super.visitMaxs(maxStack, maxLocals);
		}

	}

}
