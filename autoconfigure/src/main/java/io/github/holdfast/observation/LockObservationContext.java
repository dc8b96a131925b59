package io.github.holdfast.observation;

import java.util.List;

import io.github.holdfast.LockListener;
import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

/**
 * The context of an observed call: of its wait for the locks, or of the time for which it
 * holds them.
 */
public final class LockObservationContext extends Observation.Context {

	private final Phase phase;

	private final LockListener.Call call;

	private final List<Long> fencingTokens;

	private volatile @Nullable String outcome;

	LockObservationContext(Phase phase, LockListener.Call call, List<Long> fencingTokens) {
		this.phase = phase;
		this.call = call;
		this.fencingTokens = fencingTokens;
	}

	/**
	 * What is observed.
	 * @return the phase of the call
	 */
	public Phase phase() {
		return this.phase;
	}

	/**
	 * The observed call.
	 * @return the call
	 */
	public LockListener.Call call() {
		return this.call;
	}

	/**
	 * The fencing tokens of the locks.
	 * @return the tokens in the order of the keys, none while the call waits
	 */
	public List<Long> fencingTokens() {
		return this.fencingTokens;
	}

	/**
	 * How the phase ended: {@code ACQUIRED}, a {@link LockListener.Reason} or a
	 * {@link LockListener.Outcome}.
	 * @return the outcome, or {@code null} before the end
	 */
	public @Nullable String outcome() {
		return this.outcome;
	}

	void endedWith(String outcome) {
		this.outcome = outcome;
	}

	/**
	 * A phase of a locked call.
	 */
	public enum Phase {

		/** The call waits for its locks. */
		ACQUIRE,

		/** The call holds its locks. */
		HOLD

	}

}
