package io.github.holdfast.chaos;

import java.util.ArrayList;
import java.util.List;

import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisServer;

/**
 * A Redis that writes to its disk before it answers, and its replica, behind one address.
 *
 */
final class RedisLockStore implements AutoCloseable {

	private static final String[] PERSISTENT = { "--appendonly", "yes", "--appendfsync", "always",
			"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0" };

	/** The begin of the names of those keys that stay. */
	private static final String COUNTER = "holdfast_epoch";

	private final List<Server> servers = new ArrayList<>();

	private final FaultProxy address;

	private Server master;

	RedisLockStore() {
		this.servers.add(new Server());
		this.servers.add(new Server());
		this.master = this.servers.get(0);
		this.address = new FaultProxy(this.master.redis.port());
		replica().follow(this.master);
	}

	private Server replica() {
		return this.servers.get((this.master == this.servers.get(0)) ? 1 : 0);
	}

	int port() {
		return this.address.port();
	}

	/**
	 * Lets something go wrong.
	 * @return whether it has met anything
	 */
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

	void end(Fault fault) {
		if (fault.kind() == Fault.Kind.PROMOTION) {
			promote();
		}
	}

	/**
	 * The replica becomes the master without what it was not told, and gets the old one,
	 * which has forgotten everything, as its replica.
	 */
	private void promote() {
		Server old = this.master;
		Server promoted = replica();
		old.redis.kill();
		promoted.redis.command("REPLICAOF", "NO", "ONE");
		this.master = promoted;
		this.address.redirect(promoted.redis.port());
		old.link.inject(FaultProxy.Fault.NONE);
		old.link.reset();
		old.redis.restart();
		old.follow(promoted);
	}

	/**
	 * What is left of locks that nobody holds any more.
	 */
	List<String> leftovers() {
		return ((List<?>) this.master.redis.command("KEYS", "*")).stream()
			.map(Object::toString)
			.filter((name) -> !name.startsWith(COUNTER))
			.toList();
	}

	@Override
	public void close() {
		this.address.close();
		this.servers.forEach(Server::close);
	}

	/**
	 * A Redis, and the way of its replica to it.
	 */
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
