package io.github.holdfast.chaos;

import java.util.ArrayList;
import java.util.List;

import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisServer;

/**
 * A Redis that writes to its disk before it answers, and its replica, behind one address.
 */
final class RedisLockStore implements AutoCloseable {

	private static final String[] PERSISTENT = { "--appendonly", "yes", "--appendfsync", "always",
			"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0" };

	/** The begin of the names of those keys that stay. */
	private static final String COUNTER = "holdfast_epoch";

	private Server master = new Server();

	private Server replica = new Server();

	private final FaultProxy address = new FaultProxy(this.master.redis.port());

	RedisLockStore() {
		this.replica.follow(this.master);
	}

	int port() {
		return this.address.port();
	}

	/** Lets something go wrong, and says whether it has met anything. */
	boolean begin(Fault fault) {
		RedisServer redis = this.master.redis;
		switch (fault.kind()) {
			case FORGET -> redis.command("FLUSHALL");
			case SCRIPT_FLUSH -> redis.command("SCRIPT", "FLUSH");
			case CLIENT_PAUSE -> redis.command("CLIENT", "PAUSE", String.valueOf(fault.millis()));
			case SUBSCRIPTIONS_KILLED -> {
				return !redis.command("CLIENT", "KILL", "TYPE", "pubsub").equals(0L);
			}
			case RESTART -> redis.restart();
			case RESTART_EMPTY -> {
				redis.command("FLUSHALL");
				redis.restart();
			}
			case PROMOTION -> this.master.link.inject(FaultProxy.Fault.BLACKHOLE);
			default -> throw new IllegalArgumentException(fault.toString());
		}
		return true;
	}

	/**
	 * The replica becomes the master, without what it was not told, and gets a replica.
	 */
	void promote() {
		Server old = this.master;
		old.redis.kill();
		this.replica.redis.command("REPLICAOF", "NO", "ONE");
		this.master = this.replica;
		this.replica = old;
		this.address.redirect(this.master.redis.port());
		old.link.inject(FaultProxy.Fault.NONE);
		old.link.reset();
		old.redis.restart();
		old.follow(this.master);
	}

	List<String> leftovers() {
		List<String> left = new ArrayList<>();
		((List<?>) this.master.redis.command("KEYS", "*")).forEach((name) -> left.add(name.toString()));
		left.removeIf((name) -> name.startsWith(COUNTER));
		return left;
	}

	@Override
	public void close() {
		this.address.close();
		this.replica.close();
		this.master.close();
	}

	/** A Redis, and the way of its replica to it. */
	private static final class Server {

		private final RedisServer redis = RedisServer.start(PERSISTENT);

		private final FaultProxy link = new FaultProxy(this.redis.port());

		void follow(Server master) {
			this.redis.command("REPLICAOF", "127.0.0.1", String.valueOf(master.link.port()));
		}

		void close() {
			this.link.close();
			this.redis.close();
		}

	}

}
