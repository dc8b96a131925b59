package io.github.holdfast.check;

import java.util.BitSet;

/**
 * What the operand stack and the local variables of a method hold at one instruction, as
 * far as it matters: whether a slot is surely the object that the method belongs to.
 */
final class OperandStack {

	private final BitSet slots;

	private final BitSet locals;

	private int size;

	private OperandStack(BitSet slots, BitSet locals, int size) {
		this.slots = slots;
		this.locals = locals;
		this.size = size;
	}

	/**
	 * The state in which a method begins.
	 * @param ownObject whether its first variable is its own object
	 */
	static OperandStack atBegin(boolean ownObject) {
		BitSet locals = new BitSet();
		locals.set(0, ownObject);
		return new OperandStack(new BitSet(), locals, 0);
	}

	OperandStack copy() {
		return new OperandStack((BitSet) this.slots.clone(), (BitSet) this.locals.clone(), this.size);
	}

	/**
	 * The state where two paths meet: what is sure on both.
	 */
	OperandStack meet(OperandStack other) {
		OperandStack both = copy();
		both.slots.and(other.slots);
		both.locals.and(other.locals);
		return both;
	}

	void push(int count) {
		this.slots.clear(this.size, this.size + count);
		this.size += count;
	}

	void pushOwn(boolean own) {
		this.slots.set(this.size++, own);
	}

	void pop(int count) {
		this.size = Math.max(0, this.size - count);
	}

	/**
	 * Whether the slot at a depth is the own object.
	 * @param depth how many slots are above it
	 */
	boolean isOwn(int depth) {
		int index = this.size - 1 - depth;
		return index >= 0 && this.slots.get(index);
	}

	void load(int variable) {
		pushOwn(this.locals.get(variable));
	}

	void store(int variable) {
		this.locals.set(variable, isOwn(0));
		pop(1);
	}

	/**
	 * Repeat the upper slots below others.
	 * @param count how many are repeated
	 * @param below how many lie between
	 */
	void duplicate(int count, int below) {
		boolean[] upper = take(count);
		boolean[] between = take(below);
		put(upper);
		put(between);
		put(upper);
	}

	void swap() {
		boolean[] first = take(1);
		boolean[] second = take(1);
		put(first);
		put(second);
	}

	private boolean[] take(int count) {
		boolean[] taken = new boolean[count];
		for (int i = count - 1; i >= 0; i--) {
			taken[i] = isOwn(0);
			pop(1);
		}
		return taken;
	}

	private void put(boolean[] values) {
		for (boolean value : values) {
			pushOwn(value);
		}
	}

}
