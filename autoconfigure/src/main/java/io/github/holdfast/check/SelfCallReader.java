package io.github.holdfast.check;

import java.util.HashMap;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;

import org.jspecify.annotations.Nullable;

import org.springframework.asm.ConstantDynamic;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * Reads the instructions of one method and tells of its calls on the own object. It
 * follows that object from where it is loaded to where a method of it is called, forwards
 * only, as compilers leave nothing on the operand stack when they jump back.
 */
final class SelfCallReader extends MethodVisitor {

	/** What an instruction takes from the stack and puts there, by opcode. */
	private static final Map<Integer, Effect> EFFECTS = effects();

	private final Predicate<String> isOuterObject;

	private final Consumer<Call> calls;

	private final Map<Label, OperandStack> targets = new HashMap<>();

	private final boolean ownObject;

	/** {@code null} behind a jump. */
	private @Nullable OperandStack stack;

	private int line;

	/**
	 * Create a reader.
	 * @param isStatic whether the method is static
	 * @param ownObject whether the object of the method is the one to look for
	 * @param isOuterObject tells by its descriptor whether a reference to an enclosing
	 * object is the one to look for
	 * @param calls takes the calls
	 */
	SelfCallReader(boolean isStatic, boolean ownObject, Predicate<String> isOuterObject, Consumer<Call> calls) {
		super(SpringAsmInfo.ASM_VERSION);
		this.ownObject = ownObject && !isStatic;
		this.isOuterObject = isOuterObject;
		this.calls = calls;
		this.stack = OperandStack.atBegin(this.ownObject);
	}

	/**
	 * A call that was found.
	 *
	 * @param opcode how the method is called
	 * @param owner the internal name of the class through which it is called
	 * @param name its name
	 * @param descriptor its descriptor
	 * @param line the line in the source, zero if it is not known
	 */
	record Call(int opcode, String owner, String name, String descriptor, int line) {

	}

	@Override
	public void visitLineNumber(int line, Label start) {
		this.line = line;
	}

	@Override
	public void visitMethodInsn(int opcode, String owner, String name, String descriptor, boolean isInterface) {
		if (this.stack == null) {
			return;
		}
		int sizes = Type.getArgumentsAndReturnSizes(descriptor);
		int arguments = (sizes >> 2) - ((opcode == Opcodes.INVOKESTATIC) ? 1 : 0);
		if (arguments > 0 && this.stack.isOwn(arguments - 1)) {
			this.calls.accept(new Call(opcode, owner, name, descriptor, this.line));
		}
		this.stack.pop(arguments);
		this.stack.push(sizes & 3);
	}

	/**
	 * A method reference on the own object is a call, whenever it is made.
	 */
	@Override
	public void visitInvokeDynamicInsn(String name, String descriptor, Handle bootstrap, Object... constants) {
		if (this.stack == null) {
			return;
		}
		int sizes = Type.getArgumentsAndReturnSizes(descriptor);
		int arguments = (sizes >> 2) - 1;
		if (arguments > 0 && this.stack.isOwn(arguments - 1)) {
			for (Object constant : constants) {
				if (constant instanceof Handle handle && handle.getTag() != Opcodes.H_INVOKESTATIC) {
					int opcode = (handle.getTag() == Opcodes.H_INVOKESPECIAL) ? Opcodes.INVOKESPECIAL
							: Opcodes.INVOKEVIRTUAL;
					this.calls
						.accept(new Call(opcode, handle.getOwner(), handle.getName(), handle.getDesc(), this.line));
				}
			}
		}
		this.stack.pop(arguments);
		this.stack.push(sizes & 3);
	}

	@Override
	public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
		if (this.stack == null) {
			return;
		}
		int size = Type.getType(descriptor).getSize();
		switch (opcode) {
			case Opcodes.GETSTATIC -> this.stack.push(size);
			case Opcodes.PUTSTATIC -> this.stack.pop(size);
			case Opcodes.PUTFIELD -> this.stack.pop(size + 1);
			default -> {
				this.stack.pop(1);
				if (name.startsWith("this$") && this.isOuterObject.test(descriptor)) {
					this.stack.pushOwn(true);
				}
				else {
					this.stack.push(size);
				}
			}
		}
	}

	@Override
	public void visitVarInsn(int opcode, int variable) {
		if (this.stack == null) {
			return;
		}
		switch (opcode) {
			case Opcodes.ALOAD -> this.stack.load(variable);
			case Opcodes.ASTORE -> this.stack.store(variable);
			case Opcodes.LLOAD, Opcodes.DLOAD -> this.stack.push(2);
			case Opcodes.ILOAD, Opcodes.FLOAD -> this.stack.push(1);
			case Opcodes.LSTORE, Opcodes.DSTORE -> this.stack.pop(2);
			case Opcodes.ISTORE, Opcodes.FSTORE -> this.stack.pop(1);
			default -> {
				// RET, which compilers do not use any more
			}
		}
	}

	@Override
	public void visitInsn(int opcode) {
		if (this.stack == null) {
			return;
		}
		switch (opcode) {
			case Opcodes.DUP -> this.stack.duplicate(1, 0);
			case Opcodes.DUP_X1 -> this.stack.duplicate(1, 1);
			case Opcodes.DUP_X2 -> this.stack.duplicate(1, 2);
			case Opcodes.DUP2 -> this.stack.duplicate(2, 0);
			case Opcodes.DUP2_X1 -> this.stack.duplicate(2, 1);
			case Opcodes.DUP2_X2 -> this.stack.duplicate(2, 2);
			case Opcodes.SWAP -> this.stack.swap();
			case Opcodes.IRETURN, Opcodes.LRETURN, Opcodes.FRETURN, Opcodes.DRETURN, Opcodes.ARETURN, Opcodes.RETURN,
					Opcodes.ATHROW ->
				this.stack = null;
			default -> apply(EFFECTS.get(opcode));
		}
	}

	private void apply(@Nullable Effect effect) {
		if (effect != null && this.stack != null) {
			this.stack.pop(effect.pops());
			this.stack.push(effect.pushes());
		}
	}

	@Override
	public void visitIntInsn(int opcode, int operand) {
		if (opcode != Opcodes.NEWARRAY) {
			apply(new Effect(0, 1));
		}
	}

	@Override
	public void visitTypeInsn(int opcode, String type) {
		switch (opcode) {
			case Opcodes.NEW -> apply(new Effect(0, 1));
			case Opcodes.ANEWARRAY, Opcodes.INSTANCEOF -> apply(new Effect(1, 1));
			default -> {
				// CHECKCAST leaves the object where it is
			}
		}
	}

	@Override
	public void visitLdcInsn(Object value) {
		boolean wide = value instanceof Long || value instanceof Double
				|| (value instanceof ConstantDynamic constant && constant.getSize() == 2);
		apply(new Effect(0, wide ? 2 : 1));
	}

	@Override
	public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
		apply(new Effect(dimensions, 1));
	}

	@Override
	public void visitJumpInsn(int opcode, Label label) {
		boolean comparesTwo = opcode >= Opcodes.IF_ICMPEQ && opcode <= Opcodes.IF_ACMPNE;
		boolean always = opcode == Opcodes.GOTO || opcode == Opcodes.JSR;
		apply(new Effect(always ? 0 : (comparesTwo ? 2 : 1), 0));
		jumpTo(label);
		if (always) {
			this.stack = null;
		}
	}

	@Override
	public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
		visitLookupSwitchInsn(otherwise, new int[0], labels);
	}

	@Override
	public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
		apply(new Effect(1, 0));
		jumpTo(otherwise);
		for (Label label : labels) {
			jumpTo(label);
		}
		this.stack = null;
	}

	/**
	 * A handler begins with what was thrown, and with variables that may have changed.
	 */
	@Override
	public void visitTryCatchBlock(Label start, Label end, Label handler, @Nullable String type) {
		OperandStack thrown = OperandStack.atBegin(this.ownObject);
		thrown.push(1);
		this.targets.put(handler, thrown);
	}

	private void jumpTo(Label label) {
		if (this.stack != null) {
			this.targets.merge(label, this.stack.copy(), OperandStack::meet);
		}
	}

	@Override
	public void visitLabel(Label label) {
		OperandStack target = this.targets.get(label);
		if (this.stack == null) {
			this.stack = (target != null) ? target.copy() : OperandStack.atBegin(this.ownObject);
		}
		else if (target != null) {
			this.stack = this.stack.meet(target);
		}
	}

	private static Map<Integer, Effect> effects() {
		Map<Integer, Effect> effects = new HashMap<>();
		put(effects, 0, 1, Opcodes.ACONST_NULL, Opcodes.ICONST_5);
		put(effects, 0, 2, Opcodes.LCONST_0, Opcodes.LCONST_1);
		put(effects, 0, 1, Opcodes.FCONST_0, Opcodes.FCONST_2);
		put(effects, 0, 2, Opcodes.DCONST_0, Opcodes.DCONST_1);
		put(effects, 2, 1, Opcodes.IALOAD, Opcodes.SALOAD);
		put(effects, 2, 2, Opcodes.LALOAD, Opcodes.LALOAD);
		put(effects, 2, 2, Opcodes.DALOAD, Opcodes.DALOAD);
		put(effects, 3, 0, Opcodes.IASTORE, Opcodes.SASTORE);
		put(effects, 4, 0, Opcodes.LASTORE, Opcodes.LASTORE);
		put(effects, 4, 0, Opcodes.DASTORE, Opcodes.DASTORE);
		put(effects, 1, 0, Opcodes.POP, Opcodes.POP);
		put(effects, 2, 0, Opcodes.POP2, Opcodes.POP2);
		for (int first = Opcodes.IADD; first <= Opcodes.IREM; first += 4) {
			putBinary(effects, first);
		}
		put(effects, 2, 1, Opcodes.ISHL, Opcodes.IXOR);
		for (int shift : new int[] { Opcodes.LSHL, Opcodes.LSHR, Opcodes.LUSHR }) {
			put(effects, 3, 2, shift, shift);
		}
		for (int bits : new int[] { Opcodes.LAND, Opcodes.LOR, Opcodes.LXOR }) {
			put(effects, 4, 2, bits, bits);
		}
		for (int widening : new int[] { Opcodes.I2L, Opcodes.I2D, Opcodes.F2L, Opcodes.F2D }) {
			put(effects, 1, 2, widening, widening);
		}
		for (int narrowing : new int[] { Opcodes.L2I, Opcodes.L2F, Opcodes.D2I, Opcodes.D2F }) {
			put(effects, 2, 1, narrowing, narrowing);
		}
		put(effects, 4, 1, Opcodes.LCMP, Opcodes.LCMP);
		put(effects, 2, 1, Opcodes.FCMPL, Opcodes.FCMPG);
		put(effects, 4, 1, Opcodes.DCMPL, Opcodes.DCMPG);
		put(effects, 1, 1, Opcodes.ARRAYLENGTH, Opcodes.ARRAYLENGTH);
		put(effects, 1, 0, Opcodes.MONITORENTER, Opcodes.MONITOREXIT);
		return effects;
	}

	/**
	 * An operation of two numbers, for int, long, float and double.
	 */
	private static void putBinary(Map<Integer, Effect> effects, int first) {
		put(effects, 2, 1, first, first);
		put(effects, 4, 2, first + 1, first + 1);
		put(effects, 2, 1, first + 2, first + 2);
		put(effects, 4, 2, first + 3, first + 3);
	}

	private static void put(Map<Integer, Effect> effects, int pops, int pushes, int from, int to) {
		for (int opcode = from; opcode <= to; opcode++) {
			effects.put(opcode, new Effect(pops, pushes));
		}
	}

	/**
	 * What an instruction does to the stack.
	 *
	 * @param pops how many slots it takes
	 * @param pushes how many slots it puts there
	 */
	private record Effect(int pops, int pushes) {

	}

}
