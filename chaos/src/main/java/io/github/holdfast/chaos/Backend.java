package io.github.holdfast.chaos;

import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisStore;

/**
 * Where the locks of a run are kept.
 */
enum Backend {

	/** In a table of the business database. */
	JDBC(EnumSet.of(Step.Kind.FAIR, Step.Kind.SHARED), EnumSet.of(Fault.Kind.FORGET)) {

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int storePort) {
			return LockedApplication.jdbc(database).withPropertyValues("holdfast.backend=jdbc");
		}

	},

	/**
	 * In sessions of the business database: one transaction at a time, on the connection
	 * of the lock, and a commit guard that cannot be chosen.
	 */
	SESSION(EnumSet.of(Step.Kind.FAIR, Step.Kind.SHARED, Step.Kind.OPTIMISTIC, Step.Kind.INNER),
			EnumSet.noneOf(Fault.Kind.class)) {

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int storePort) {
			return LockedApplication.jdbc(database)
				.withPropertyValues("holdfast.backend=jdbc", "holdfast.jdbc.mode=session");
		}

		@Override
		List<Level> controls() {
			return List.of(Level.NONE);
		}

	},

	/** In Redis, through Lettuce. */
	REDIS(EnumSet.of(Step.Kind.SHARED), RedisLockStore.FAULTS) {

		@Override
		LockStore startStore() {
			return new RedisLockStore();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int storePort) {
			return RedisStore.REDIS.application(database, storePort);
		}

	},

	/** In Redis, through Redisson. */
	REDISSON(EnumSet.of(Step.Kind.SHARED), RedisLockStore.FAULTS) {

		@Override
		LockStore startStore() {
			return new RedisLockStore();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int storePort) {
			return RedisStore.REDISSON.application(database, storePort);
		}

	},

	/** In ZooKeeper. */
	ZOOKEEPER(EnumSet.noneOf(Step.Kind.class), ZooKeeperLockStore.FAULTS) {

		@Override
		LockStore startStore() {
			return new ZooKeeperLockStore();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int storePort) {
			return LockedApplication.zooKeeper(database, "127.0.0.1:" + storePort)
				.withPropertyValues("holdfast.zookeeper.session-timeout=" + leaseTime() + "ms");
		}

	},

	/** In etcd, which must be installed. */
	ETCD(EnumSet.noneOf(Step.Kind.class), EtcdLockStore.FAULTS) {

		@Override
		LockStore startStore() {
			return new EtcdLockStore();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, int storePort) {
			return LockedApplication.etcd(database, "http://127.0.0.1:" + storePort);
		}

		@Override
		boolean isAvailable() {
			return EtcdServer.isInstalled();
		}

	};

	private final Set<Step.Kind> missing;

	private final Set<Fault.Kind> storeFaults;

	Backend(Set<Step.Kind> missing, Set<Fault.Kind> storeFaults) {
		this.missing = missing;
		this.storeFaults = storeFaults;
	}

	/**
	 * Starts the server that keeps the locks, or none if the business database does.
	 */
	@Nullable LockStore startStore() {
		return null;
	}

	abstract ApplicationContextRunner application(DatabaseAccess database, int storePort);

	/**
	 * Whether its server can be started on this machine.
	 */
	boolean isAvailable() {
		return true;
	}

	/**
	 * After how many milliseconds without a sign of its holder a lock is free. etcd and
	 * ZooKeeper do not count in smaller steps than half a second.
	 */
	int leaseTime() {
		return (this == ZOOKEEPER || this == ETCD) ? 1500 : 700;
	}

	boolean offers(Step.Kind kind) {
		return !this.missing.contains(kind);
	}

	/**
	 * The levels to compare {@link Level#FENCE} with.
	 */
	List<Level> controls() {
		return List.of(Level.NONE, Level.LEASE, Level.UNCHECKED, Level.VERIFY);
	}

	/**
	 * Whether a fault can happen to it.
	 */
	boolean suffers(Fault.Kind fault) {
		return switch (fault.place()) {
			case STORE -> this.storeFaults.contains(fault);
			case STORE_NETWORK -> this != JDBC && this != SESSION;
			default -> true;
		};
	}

	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
