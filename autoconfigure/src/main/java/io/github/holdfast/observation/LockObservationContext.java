package io.github.holdfast.observation;

import java.util.List;

import io.micrometer.observation.Observation;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockListener.Call;

/**
 * What is observed of a locked call: its wait for the locks, or the time for which it
 * holds them.
 *
 * @since 0.2.0
 */
public final class LockObservationContext extends Observation.Context {

	private final Call call;

	private final List<Long> tokens;

	private volatile @Nullable String outcome;

	LockObservationContext(Call call, List<Long> tokens) {
		this.call = call;
		this.tokens = tokens;
	}

	/**
	 * The call.
	 * @return the call
	 */
	public Call call() {
		return this.call;
	}

	/**
	 * The tokens of the locks, which a call that waits does not have.
	 * @return the tokens
	 */
	public List<Long> tokens() {
		return this.tokens;
	}

	/**
	 * How it ended.
	 * @return the outcome, or {@code null} if it has not ended
	 */
	public @Nullable String outcome() {
		return this.outcome;
	}

	void outcome(String outcome) {
		this.outcome = outcome;
	}

}
