package io.github.holdfast.check;

import java.io.IOException;
import java.io.InputStream;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.interceptor.LockOperationSource;
import io.github.holdfast.interceptor.LockOperationSource.LockOperation;
import org.jspecify.annotations.Nullable;

import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.Handle;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Finds self-invocations of locked methods in the class files of a bean. A method that
 * handles no reference of the bean's type other than {@code this} can call a method of
 * that type only on {@code this}; methods that do handle one are left out. Calls in inner
 * and anonymous classes and by reflection are not found.
 */
final class SelfCallFinder extends ClassVisitor {

	private final LockOperationSource source;

	private final Class<?> type;

	private final Map<String, Class<?>> lineage = new LinkedHashMap<>();

	private final List<Call> calls = new ArrayList<>();

	private String className = "";

	private SelfCallFinder(LockOperationSource source, Class<?> type) {
		super(SpringAsmInfo.ASM_VERSION);
		this.source = source;
		this.type = type;
		lineage(type).filter((parent) -> parent.getClassLoader() != null)
			.forEach((parent) -> this.lineage.put(Type.getInternalName(parent), parent));
	}

	/**
	 * Finds the calls that miss a lock.
	 * @param source the annotated methods
	 * @param beanClass the class of a bean
	 * @return descriptions of the calls
	 */
	static List<String> find(LockOperationSource source, Class<?> beanClass) {
		SelfCallFinder finder = new SelfCallFinder(source, ClassUtils.getUserClass(beanClass));
		finder.lineage.forEach(finder::read);
		return finder.calls.stream().map(finder::unlocked).filter(Objects::nonNull).distinct().toList();
	}

	private static Stream<Class<?>> lineage(Class<?> type) {
		return Stream.concat(Stream.<Class<?>>iterate(type, Objects::nonNull, Class::getSuperclass),
				ClassUtils.getAllInterfacesForClassAsSet(type).stream());
	}

	private void read(String name, Class<?> type) {
		try (InputStream file = type.getClassLoader().getResourceAsStream(name + ".class")) {
			if (file != null) {
				this.className = name;
				new ClassReader(file).accept(this, ClassReader.SKIP_FRAMES);
			}
		}
		catch (IOException | IllegalArgumentException ex) {
			// A class file of a later Java version
		}
	}

	private @Nullable String unlocked(Call call) {
		LockOperation inner = operation(call.name, call.descriptor,
				call.toSuper ? this.lineage.getOrDefault(call.owner, this.type) : this.type);
		boolean overrides = call.toSuper && call.caller.equals(call.name)
				&& Type.getArgumentCount(call.callerDescriptor) == Type.getArgumentCount(call.descriptor);
		Optional<Method> caller = find(this.type, call.caller, call.callerDescriptor);
		if (inner == null || overrides || caller.filter((method) -> isNeverMade(call, method)).isPresent()) {
			return null;
		}
		LockOperation outer = operation(call.caller, call.callerDescriptor, this.type);
		boolean held = outer != null && outer.condition() == null && outer.settings().mode() == inner.settings().mode()
				&& Objects.equals(key(outer), key(inner));
		String place = ClassUtils.getShortName(call.callerType.replace('/', '.')) + "."
				+ call.caller.replaceFirst("^lambda\\$(.*)\\$\\d+$", "$1");
		return held ? null : place + " calls " + inner.location();
	}

	private static @Nullable String key(LockOperation operation) {
		DistributedLock lock = AnnotatedElementUtils.findMergedAnnotation(operation.method(), DistributedLock.class);
		return (lock != null) ? lock.key() : null;
	}

	/**
	 * A subclass may override the calling method without a call of the overridden one.
	 */
	private boolean isNeverMade(Call call, Method caller) {
		return !Type.getInternalName(caller.getDeclaringClass()).equals(call.callerType) && this.calls.stream()
			.noneMatch((other) -> other.toSuper && other.name.equals(call.caller)
					&& other.descriptor.equals(call.callerDescriptor));
	}

	private @Nullable LockOperation operation(String name, String descriptor, Class<?> type) {
		return find(type, name, descriptor).map((method) -> this.source.get(method, type)).orElse(null);
	}

	private static Optional<Method> find(Class<?> type, String name, String descriptor) {
		return lineage(type).flatMap((parent) -> Arrays.stream(ReflectionUtils.getDeclaredMethods(parent)))
			.filter((method) -> method.getName().equals(name) && !method.isBridge()
					&& Type.getMethodDescriptor(method).equals(descriptor))
			.findFirst();
	}

	@Override
	public @Nullable MethodVisitor visitMethod(int access, String caller, String callerDescriptor,
			@Nullable String signature, String @Nullable [] exceptions) {
		int others = Opcodes.ACC_STATIC | Opcodes.ACC_ABSTRACT | Opcodes.ACC_NATIVE | Opcodes.ACC_BRIDGE;
		if ((access & others) != 0 || areOwn(Type.getArgumentTypes(callerDescriptor))) {
			return null;
		}
		return new MethodVisitor(SpringAsmInfo.ASM_VERSION) {

			private final List<Call> found = new ArrayList<>();

			private boolean ambiguous;

			@Override
			public void visitTypeInsn(int opcode, String type) {
				this.ambiguous |= opcode != Opcodes.INSTANCEOF && areOwn(Type.getObjectType(type));
			}

			@Override
			public void visitFieldInsn(int opcode, String type, String field, String descriptor) {
				this.ambiguous |= areOwn(Type.getType(descriptor));
			}

			@Override
			public void visitMethodInsn(int opcode, String type, String method, String descriptor,
					boolean onInterface) {
				this.ambiguous |= areOwn(Type.getReturnType(descriptor));
				if (opcode != Opcodes.INVOKESTATIC) {
					add(opcode == Opcodes.INVOKESPECIAL, type, method, descriptor);
				}
			}

			@Override
			public void visitInvokeDynamicInsn(String method, String descriptor, Handle bootstrap,
					Object... arguments) {
				for (Object argument : arguments) {
					if (argument instanceof Handle handle && handle.getTag() != Opcodes.H_INVOKESTATIC
							&& areOwn(Type.getArgumentTypes(descriptor))) {
						add(handle.getTag() == Opcodes.H_INVOKESPECIAL, handle.getOwner(), handle.getName(),
								handle.getDesc());
					}
				}
			}

			private void add(boolean special, String type, String method, String descriptor) {
				String from = SelfCallFinder.this.className;
				if (areOwn(Type.getObjectType(type))) {
					this.found.add(new Call(from, caller, callerDescriptor, type, method, descriptor,
							special && !type.equals(from)));
				}
			}

			@Override
			public void visitEnd() {
				if (!this.ambiguous) {
					SelfCallFinder.this.calls.addAll(this.found);
				}
			}

		};
	}

	private boolean areOwn(Type... types) {
		return Stream.of(types)
			.map((type) -> (type.getSort() == Type.ARRAY) ? type.getElementType() : type)
			.anyMatch((type) -> this.lineage.keySet().contains(type.getInternalName()));
	}

	/**
	 * A call on {@code this}.
	 */
	private record Call(String callerType, String caller, String callerDescriptor, String owner, String name,
			String descriptor, boolean toSuper) {

	}

}
