package io.github.holdfast.testsupport;

import java.time.Duration;

import io.github.holdfast.LockListener;

/**
 * A listener that may block, and checks that the threads on which it is told may do that.
 */
public class ThreadListener implements LockListener {

	private static void check() {
		SparedThreads.check("A listener is told", "holdfast-watchdog-");
	}

	@Override
	public void onAttempt(Call call) {
		check();
	}

	@Override
	public void onAcquired(Call call, Duration waitTime) {
		check();
	}

	@Override
	public void onNotAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
		check();
	}

	@Override
	public void onBackendFailure(Call call, Operation operation, Throwable failure) {
		check();
	}

	@Override
	public void onLost(Call call, String key, Duration holdTime) {
		check();
	}

	@Override
	public void onReleased(Call call, Outcome outcome, Duration holdTime) {
		check();
	}

}
