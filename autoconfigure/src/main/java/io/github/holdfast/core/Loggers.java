package io.github.holdfast.core;

import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The logger that users know.
 */
final class Loggers {

	/** Of {@code LockTemplate}, which this package does not know. */
	static final Logger TEMPLATE = LoggerFactory.getLogger("io.github.holdfast.LockTemplate");

	private Loggers() {
	}

}
