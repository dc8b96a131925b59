package io.github.holdfast;

import org.jspecify.annotations.Nullable;

/**
 * A mistake in the configuration or in an annotation that is found while the application
 * starts: what was found, and what to do about it.
 */
public class LockConfigurationException extends IllegalStateException {

	private static final long serialVersionUID = 1L;

	private final String description;

	private final String action;

	/**
	 * Create a new exception.
	 * @param description what was found
	 * @param action what to do about it
	 */
	public LockConfigurationException(String description, String action) {
		this(description, action, null);
	}

	/**
	 * Create a new exception.
	 * @param description what was found
	 * @param action what to do about it
	 * @param cause the cause, if any
	 */
	public LockConfigurationException(String description, String action, @Nullable Throwable cause) {
		super(description + " " + action, cause);
		this.description = description;
		this.action = action;
	}

	/**
	 * What was found.
	 * @return whole sentences
	 */
	public String description() {
		return this.description;
	}

	/**
	 * What to do about it.
	 * @return whole sentences
	 */
	public String action() {
		return this.action;
	}

}
