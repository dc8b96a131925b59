package io.github.holdfast.chaos;

import java.util.Locale;

/**
 * The isolation level of the business transactions.
 */
enum Isolation {

	/** Each statement sees what was committed before it. */
	READ_COMMITTED,

	/** Each transaction sees what was committed before its first statement. */
	REPEATABLE_READ;

	/**
	 * The name that connection pools know.
	 */
	String poolSetting() {
		return "TRANSACTION_" + name();
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
