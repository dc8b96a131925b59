package io.github.holdfast.chaos;

/**
 * The isolation level that the pool gives to transactions.
 */
enum Isolation {

	/** Each statement sees what was committed before it. */
	READ_COMMITTED,

	/** Each transaction sees what was committed before its first read. */
	REPEATABLE_READ,

	/** The same with {@code innodb_snapshot_isolation}, the default of MariaDB 11.6. */
	SNAPSHOT,

	/** As if one transaction came after the other. */
	SERIALIZABLE;

	/**
	 * The name that connection pools know.
	 */
	String poolSetting() {
		return "TRANSACTION_" + ((this == SNAPSHOT) ? REPEATABLE_READ : this).name();
	}

	@Override
	public String toString() {
		return Names.print(this);
	}

}
