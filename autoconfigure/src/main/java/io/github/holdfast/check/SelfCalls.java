package io.github.holdfast.check;

import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.util.ClassUtils;
import org.springframework.util.StringUtils;

/**
 * The calls that the methods of a class, and what they inherit, make on their own object,
 * as its class files tell: also in lambdas and in anonymous, local and private inner
 * classes.
 *
 * <p>
 * Not seen are calls on an object that was given away ({@code executor.submit(this)}) and
 * by reflection. A class without a class file, as one that was generated, has none.
 */
final class SelfCalls {

	private static final Logger logger = LoggerFactory.getLogger(SelfCalls.class);

	private static final String LAMBDA = "lambda$";

	/** Ends the name of the static method that fills in default arguments. */
	private static final String KOTLIN_DEFAULT = "$default";

	private final Class<?> type;

	/** The internal names of a class and of what it inherits from. */
	private final Set<String> lineage = new LinkedHashSet<>();

	private final Set<String> read = new HashSet<>();

	private final Queue<String> inner = new ArrayDeque<>();

	private final List<SelfCall> calls = new ArrayList<>();

	private SelfCalls(Class<?> type) {
		this.type = type;
		Stream<Class<?>> superclasses = Stream.iterate(type, Objects::nonNull, Class::getSuperclass);
		Stream.concat(superclasses, ClassUtils.getAllInterfacesForClassAsSet(type).stream())
			.filter((parent) -> parent.getClassLoader() != null)
			.map(Type::getInternalName)
			.forEach(this.lineage::add);
	}

	/**
	 * The calls of a class.
	 * @param type a class that was compiled, not one of a proxy
	 */
	static List<SelfCall> of(Class<?> type) {
		SelfCalls calls = new SelfCalls(type);
		calls.lineage.forEach((name) -> calls.read(name, true));
		for (String name = calls.inner.poll(); name != null; name = calls.inner.poll()) {
			calls.read(name, false);
		}
		return calls.calls;
	}

	private void read(String name, boolean own) {
		if (!this.read.add(name)) {
			return;
		}
		ClassLoader loader = this.type.getClassLoader();
		try (InputStream file = (loader != null) ? loader.getResourceAsStream(name + ".class") : null) {
			if (file != null) {
				new ClassReader(file).accept(new Visitor(name, own), ClassReader.SKIP_FRAMES);
			}
		}
		catch (IOException | IllegalArgumentException ex) {
			logger.debug("Calls on 'this' are not looked for in {}, whose class file cannot be read", name, ex);
		}
	}

	/**
	 * One class file.
	 */
	private final class Visitor extends ClassVisitor {

		private final String name;

		private final boolean own;

		private @Nullable String source;

		Visitor(String name, boolean own) {
			super(SpringAsmInfo.ASM_VERSION);
			this.name = name;
			this.own = own;
		}

		@Override
		public void visitSource(@Nullable String source, @Nullable String debug) {
			this.source = source;
		}

		/**
		 * An inner class that others can make may be given a proxy as its outer object.
		 */
		@Override
		public void visitInnerClass(String inner, @Nullable String outer, @Nullable String simpleName, int access) {
			boolean onlyMadeHere = outer == null || (access & Opcodes.ACC_PRIVATE) != 0;
			if (onlyMadeHere && (access & Opcodes.ACC_STATIC) == 0 && inner.startsWith(this.name + "$")) {
				SelfCalls.this.inner.add(inner);
			}
		}

		@Override
		public @Nullable MethodVisitor visitMethod(int access, String method, String descriptor,
				@Nullable String signature, String @Nullable [] exceptions) {
			if ((access & (Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_BRIDGE)) != 0) {
				return null;
			}
			boolean fixed = (access & (Opcodes.ACC_STATIC | Opcodes.ACC_PRIVATE)) != 0 || method.equals("<init>");
			SelfCall.Caller caller = new SelfCall.Caller(this.name, method, descriptor, this.own, !fixed);
			return new SelfCallReader((access & Opcodes.ACC_STATIC) != 0, this.own, this::isOuterObject,
					(call) -> add(caller, call));
		}

		private boolean isOuterObject(String descriptor) {
			return SelfCalls.this.lineage.contains(Type.getType(descriptor).getInternalName());
		}

		private void add(SelfCall.Caller caller, SelfCallReader.Call call) {
			boolean isStatic = call.opcode() == Opcodes.INVOKESTATIC;
			if (call.name().equals("<init>") || (isStatic && !call.name().endsWith(KOTLIN_DEFAULT))) {
				return;
			}
			boolean toSuper = call.opcode() == Opcodes.INVOKESPECIAL && !call.owner().equals(this.name);
			String place = place(caller.name(), call.line());
			SelfCalls.this.calls.add(isStatic
					? new SelfCall(caller, place, call.owner(), StringUtils.delete(call.name(), KOTLIN_DEFAULT), "",
							false)
					: new SelfCall(caller, place, call.owner(), call.name(), call.descriptor(), toSuper));
		}

		private String place(String method, int line) {
			String type = ClassUtils.getShortName(Type.getObjectType(this.name).getClassName());
			String where = (this.source != null && line > 0) ? " (" + this.source + ":" + line + ")" : "";
			if (method.equals("<init>")) {
				return "the constructor of " + type + where;
			}
			if (method.startsWith(LAMBDA)) {
				int end = method.lastIndexOf('$');
				String outer = (end > LAMBDA.length()) ? method.substring(LAMBDA.length(), end) : method;
				return "a lambda in " + type + "." + outer + where;
			}
			return type + "." + method + where;
		}

	}

}
