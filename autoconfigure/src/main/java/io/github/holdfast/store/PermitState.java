package io.github.holdfast.store;

import java.util.concurrent.atomic.AtomicReference;

/**
 * Whose a permit is. One that is granted to a thread that still sleeps may be taken by
 * another one, until the sleeper has claimed it.
 */
final class PermitState {

	private final AtomicReference<Phase> phase;

	private PermitState(Phase phase) {
		this.phase = new AtomicReference<>(phase);
	}

	/**
	 * The state of a permit whose new owner does not know of it yet.
	 */
	static PermitState granted() {
		return new PermitState(Phase.GRANTED);
	}

	static PermitState claimed() {
		return new PermitState(Phase.CLAIMED);
	}

	/**
	 * Take what was granted.
	 * @return {@code false} if another one has taken it
	 */
	boolean claim() {
		return this.phase.compareAndSet(Phase.GRANTED, Phase.CLAIMED) || this.phase.get() != Phase.BARGED;
	}

	/**
	 * Take what was granted to another one.
	 * @return {@code false} if that one has claimed it
	 */
	boolean barge() {
		return this.phase.compareAndSet(Phase.GRANTED, Phase.BARGED);
	}

	/**
	 * Give the permit back.
	 * @return {@code false} if another one has barged in or it was given back before
	 */
	boolean release() {
		return this.phase.compareAndSet(Phase.CLAIMED, Phase.RELEASED)
				|| this.phase.compareAndSet(Phase.GRANTED, Phase.RELEASED);
	}

	boolean isHeld() {
		Phase phase = this.phase.get();
		return phase == Phase.CLAIMED || phase == Phase.GRANTED;
	}

	private enum Phase {

		GRANTED, CLAIMED, BARGED, RELEASED

	}

}
