package io.github.holdfast.chaos;

import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RedisServer;

/**
 * A Redis that writes to its disk before it answers, and its replica, behind one address.
 * Their clock can be moved where libfaketime is installed.
 */
final class RedisLockStore implements LockStore {

	static final Set<Fault.Kind> FAULTS = EnumSet.of(Fault.Kind.FORGET, Fault.Kind.SCRIPT_FLUSH,
			Fault.Kind.CLIENT_PAUSE, Fault.Kind.SUBSCRIPTIONS_KILLED, Fault.Kind.STORE_FULL, Fault.Kind.RESTART,
			Fault.Kind.RESTART_EMPTY, Fault.Kind.PROMOTION, Fault.Kind.CLOCK_JUMP);

	private static final String[] PERSISTENT = { "--appendonly", "yes", "--appendfsync", "always",
			"--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0" };

	/** The end of the names of those keys that stay for good. */
	private static final String COUNTER = ":epoch";

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

	@Override
	public List<Integer> ports() {
		return List.of(this.address.port());
	}

	@Override
	public boolean begin(Fault fault) {
		RedisServer redis = this.master.redis;
		switch (fault.kind()) {
			case FORGET -> redis.command("FLUSHALL");
			case SCRIPT_FLUSH -> redis.command("SCRIPT", "FLUSH");
			case CLIENT_PAUSE -> redis.command("CLIENT", "PAUSE", String.valueOf(fault.millis()));
			case SUBSCRIPTIONS_KILLED -> {
				return !redis.command("CLIENT", "KILL", "TYPE", "pubsub").equals(0L);
			}
			case STORE_FULL -> redis.command("CONFIG", "SET", "maxmemory", "1");
			case RESTART -> redis.restart();
			case RESTART_EMPTY -> {
				redis.command("FLUSHALL");
				redis.restart();
			}
			case PROMOTION -> this.master.link.inject(FaultProxy.Fault.BLACKHOLE);
			case CLOCK_JUMP -> {
				moveClock(fault);
				return this.master.movable.isPresent();
			}
			default -> throw new IllegalArgumentException(fault.toString());
		}
		return true;
	}

	/**
	 * Every second time it goes back. The steps of libfaketime are seconds.
	 */
	private void moveClock(Fault fault) {
		Duration jump = Duration.ofSeconds(1 + fault.millis() / 500);
		this.servers.forEach((server) -> server.redis.moveClock((fault.at() % 2 == 0) ? jump : jump.negated()));
	}

	@Override
	public void end(Fault fault) {
		switch (fault.kind()) {
			case STORE_FULL -> this.master.redis.command("CONFIG", "SET", "maxmemory", "0");
			case PROMOTION -> promote();
			case CLOCK_JUMP -> this.servers.forEach((server) -> server.redis.moveClock(Duration.ZERO));
			default -> {
			}
		}
	}

	/**
	 * Whether the replica knows all that the master does.
	 */
	boolean isReplicated() {
		RedisServer replica = replica().redis;
		return replica.info("master_link_status").equals("up")
				&& replica.info("slave_repl_offset").equals(this.master.redis.info("master_repl_offset"));
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

	@Override
	public List<String> leftovers() {
		return Stream.of("KEYS", "PUBSUB CHANNELS")
			.flatMap((question) -> ((List<?>) this.master.redis.command((question + " *").split(" "))).stream())
			.map(Object::toString)
			.filter((name) -> !name.endsWith(COUNTER))
			.toList();
	}

	@Override
	public long size() {
		return Long.parseLong(this.master.redis.command("DBSIZE").toString());
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

		private final Optional<RedisServer> movable = RedisServer.startWithMovableClock(PERSISTENT);

		private final RedisServer redis = this.movable.orElseGet(() -> RedisServer.start(PERSISTENT));

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
