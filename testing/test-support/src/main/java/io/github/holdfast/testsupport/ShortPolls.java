package io.github.holdfast.testsupport;

import java.time.Duration;

import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Lets tests look sooner and more often whether what they wait for has come, and wait for
 * longer: the defaults of Awaitility are a tenth of a second, and ten, which a busy
 * machine may take. Registered by {@code META-INF/services}.
 */
public final class ShortPolls implements BeforeAllCallback {

	private static final Duration INTERVAL = Duration.ofMillis(10);

	private static final Duration PATIENCE = Duration.ofMinutes(1);

	@Override
	public void beforeAll(ExtensionContext context) {
		Awaitility.setDefaultPollDelay(Duration.ZERO);
		Awaitility.setDefaultPollInterval(INTERVAL);
		Awaitility.setDefaultTimeout(PATIENCE);
	}

}
