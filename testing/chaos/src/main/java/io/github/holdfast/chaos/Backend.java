package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.EnumSet;
import java.util.Set;

import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.ZooKeeperServer;

/**
 * Where the locks of a run are kept.
 */
enum Backend {

	/**
	 * In a table of the business database, whose transactions lock the rows themselves.
	 */
	JDBC(EnumSet.of(Step.Kind.FAIR, Step.Kind.SHARED), EnumSet.of(Fault.Kind.FORGET, Fault.Kind.CLOCK_JUMP)) {

		@Override
		ApplicationContextRunner application(DatabaseAccess database, String store, int leaseTime) {
			return jdbc(database, "transaction");
		}

	},

	/** In Redis, through Lettuce. */
	REDIS(EnumSet.of(Step.Kind.SHARED), RedisLockStore.FAULTS) {

		@Override
		LockStore startStore() {
			return new RedisLockStore();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, String store, int leaseTime) {
			return RedisStore.REDIS.application(database, port(store));
		}

	},

	/** In Redis, through Redisson. */
	REDISSON(EnumSet.of(Step.Kind.SHARED), RedisLockStore.FAULTS) {

		@Override
		LockStore startStore() {
			return new RedisLockStore();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, String store, int leaseTime) {
			return RedisStore.REDISSON.application(database, port(store));
		}

	},

	/** In ZooKeeper. */
	ZOOKEEPER(EnumSet.noneOf(Step.Kind.class), ZooKeeperLockStore.FAULTS) {

		@Override
		LockStore startStore() {
			return new ZooKeeperLockStore();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, String store, int leaseTime) {
			return LockedApplication.zooKeeper(database, store)
				.withBean(CuratorFramework.class, () -> ZooKeeperServer.client(store, Duration.ofMillis(leaseTime)));
		}

	},

	/** In etcd, which must be installed. */
	ETCD(EnumSet.noneOf(Step.Kind.class), EtcdLockStore.FAULTS) {

		@Override
		LockStore startStore() {
			return new EtcdLockStore();
		}

		@Override
		ApplicationContextRunner application(DatabaseAccess database, String store, int leaseTime) {
			return LockedApplication.etcd(database, "http://" + store.replace(",", ",http://"));
		}

		@Override
		boolean isAvailable() {
			return EtcdServer.isInstalled();
		}

	},

	/** In a table of the business database, by leases only. */
	JDBC_LEASE(JDBC.missing, JDBC.storeFaults) {

		@Override
		ApplicationContextRunner application(DatabaseAccess database, String store, int leaseTime) {
			return jdbc(database, "lease");
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

	/**
	 * The application of a node.
	 * @param database its database
	 * @param store the addresses of the servers that keep the locks
	 * @param leaseTime the lease time in milliseconds
	 */
	abstract ApplicationContextRunner application(DatabaseAccess database, String store, int leaseTime);

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

	private static ApplicationContextRunner jdbc(DatabaseAccess database, String mode) {
		return LockedApplication.jdbc(database)
			.withPropertyValues("holdfast.backend=jdbc", "holdfast.jdbc.mode=" + mode);
	}

	private static int port(String store) {
		return Integer.parseInt(store.substring(store.indexOf(':') + 1));
	}

	boolean offers(Step.Kind kind) {
		return !this.missing.contains(kind);
	}

	/**
	 * Whether its locks end by time only.
	 */
	boolean hasLeases() {
		return this != ZOOKEEPER;
	}

	/**
	 * Whether it is in Redis, whatever the client.
	 */
	boolean isRedis() {
		return this == REDIS || this == REDISSON;
	}

	/**
	 * How many times longer it takes to meet as many faults, as there is no network to a
	 * store.
	 */
	int patience() {
		return isInDatabase() ? 2 : 1;
	}

	/**
	 * Whether it is in the business database.
	 */
	boolean isInDatabase() {
		return this == JDBC || this == JDBC_LEASE;
	}

	/**
	 * Whether a fault can happen to it.
	 */
	boolean suffers(Fault.Kind fault) {
		return switch (fault.place()) {
			case NODE -> fault != Fault.Kind.SESSION_EXPIRED || this == ZOOKEEPER;
			case STORE -> this.storeFaults.contains(fault);
			case STORE_NETWORK -> !isInDatabase();
			default -> true;
		};
	}

	@Override
	public String toString() {
		return Names.print(this);
	}

}
