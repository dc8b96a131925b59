package io.github.holdfast.check;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Which methods the methods of a class call, on whatever object, as its class files and
 * those of its superclasses tell. A lambda counts as called where it is made.
 */
final class CallGraph {

	private static final Logger logger = LoggerFactory.getLogger(CallGraph.class);

	private final Set<String> lineage = new HashSet<>();

	/** By the name and the descriptor of the caller. */
	private final Map<String, List<Call>> calls = new HashMap<>();

	private CallGraph(Class<?> type) {
		Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass)
			.filter((parent) -> parent.getClassLoader() != null)
			.forEach((parent) -> {
				this.lineage.add(Type.getInternalName(parent));
				read(parent);
			});
	}

	static CallGraph of(Class<?> type) {
		return new CallGraph(type);
	}

	private void read(Class<?> type) {
		try (InputStream file = type.getClassLoader().getResourceAsStream(Type.getInternalName(type) + ".class")) {
			if (file != null) {
				new ClassReader(file).accept(new Visitor(), ClassReader.SKIP_FRAMES);
			}
		}
		catch (IOException | IllegalArgumentException ex) {
			logger.debug("Calls are not looked for in {}, whose class file cannot be read", type, ex);
		}
	}

	/**
	 * The calls of other classes that a method makes, itself or by methods of its own
	 * class.
	 * @param method its name and descriptor
	 */
	List<Call> from(String method) {
		List<Call> found = new ArrayList<>();
		Set<String> seen = new HashSet<>(Set.of(method));
		Queue<String> callers = new ArrayDeque<>(seen);
		for (String caller = callers.poll(); caller != null; caller = callers.poll()) {
			for (Call call : this.calls.getOrDefault(caller, List.of())) {
				if (!this.lineage.contains(call.owner())) {
					found.add(call);
				}
				else if (seen.add(call.method())) {
					callers.add(call.method());
				}
			}
		}
		return found;
	}

	/**
	 * A call of a method.
	 *
	 * @param owner the internal name of the class through which it is called
	 * @param method its name and descriptor
	 * @param place where that is, as {@code Orders.java:42}
	 */
	record Call(String owner, String method, String place) {

	}

	private final class Visitor extends ClassVisitor {

		private @Nullable String source;

		Visitor() {
			super(SpringAsmInfo.ASM_VERSION);
		}

		@Override
		public void visitSource(@Nullable String source, @Nullable String debug) {
			this.source = source;
		}

		/**
		 * A method of a superclass that is overridden adds nothing.
		 */
		@Override
		public @Nullable MethodVisitor visitMethod(int access, String method, String descriptor,
				@Nullable String signature, String @Nullable [] exceptions) {
			List<Call> calls = new ArrayList<>();
			boolean first = CallGraph.this.calls.putIfAbsent(method + descriptor, calls) == null;
			return first ? new Body(String.valueOf(this.source), calls::add) : null;
		}

	}

	private static final class Body extends MethodVisitor {

		private final String source;

		private final Consumer<Call> calls;

		private int line;

		Body(String source, Consumer<Call> calls) {
			super(SpringAsmInfo.ASM_VERSION);
			this.source = source;
			this.calls = calls;
		}

		@Override
		public void visitLineNumber(int line, Label start) {
			this.line = line;
		}

		@Override
		public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
			if (opcode != Opcodes.INVOKESPECIAL || !name.equals("<init>")) {
				add(owner, name, descriptor);
			}
		}

		@Override
		public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... constants) {
			for (Object constant : constants) {
				if (constant instanceof Handle handle) {
					add(handle.getOwner(), handle.getName(), handle.getDesc());
				}
			}
		}

		private void add(String owner, String name, String descriptor) {
			this.calls.accept(new Call(owner, name + descriptor, this.source + ":" + this.line));
		}

	}

}
