package io.github.holdfast.autoconfigure;

import java.util.concurrent.ExecutionException;

/**
 * A check that is made once at startup, if the application uses locks. It throws a
 * {@link io.github.holdfast.LockConfigurationException}.
 */
@FunctionalInterface
interface LockStartupCheck {

	void run() throws InterruptedException, ExecutionException;

}
