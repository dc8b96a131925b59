package io.github.holdfast.autoconfigure;

import io.github.holdfast.LockConfigurationException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reaction to a startup check that fails.
 */
public enum StartupChecks {

	/** The application does not start. */
	FAIL,

	/** The application starts, and a warning is logged. */
	WARN;

	private static final Logger logger = LoggerFactory.getLogger(StartupChecks.class);

	void report(LockConfigurationException failure) {
		if (this == FAIL) {
			throw failure;
		}
		logger.warn("{} {}", failure.description(), failure.action());
	}

}
