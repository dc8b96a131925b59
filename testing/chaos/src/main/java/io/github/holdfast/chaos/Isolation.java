package io.github.holdfast.chaos;

/**
 * The isolation level that the pool gives to transactions. {@link #SNAPSHOT} is
 * REPEATABLE READ with {@code innodb_snapshot_isolation}, the default of MariaDB 11.6.
 */
enum Isolation {

	READ_COMMITTED, REPEATABLE_READ, SNAPSHOT, SERIALIZABLE;

	String poolSetting() {
		return "TRANSACTION_" + ((this == SNAPSHOT) ? REPEATABLE_READ : this).name();
	}

}
