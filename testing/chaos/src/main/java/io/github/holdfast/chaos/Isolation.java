package io.github.holdfast.chaos;

import java.util.Locale;

/**
 * The isolation level of the business transactions.
 */
enum Isolation {

	/** Each statement sees what was committed before it. */
	READ_COMMITTED,

	/** Each transaction sees what was committed before its first statement. */
	REPEATABLE_READ,

	/** The same in MariaDB as it is from 11.6.2 on: who writes over a later row fails. */
	SNAPSHOT,

	/** As if one came after the other; who might not, fails. */
	SERIALIZABLE;

	/**
	 * The name that connection pools know.
	 */
	String poolSetting() {
		return "TRANSACTION_" + ((this == SNAPSHOT) ? REPEATABLE_READ : this).name();
	}

	/**
	 * What a URL of MariaDB has to say.
	 */
	String urlSetting() {
		return (this == SNAPSHOT) ? "&sessionVariables=innodb_snapshot_isolation=ON" : "";
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT).replace('_', '-');
	}

}
