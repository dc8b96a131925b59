package io.github.holdfast.chaos;

import java.util.EnumSet;
import java.util.Set;

import io.github.holdfast.testsupport.RedisServer;

/**
 * One Redis that writes to its disk before it answers.
 */
final class RedisLockStore implements LockStore {

	static final Set<Fault.Kind> FAULTS = EnumSet.of(Fault.Kind.FORGET, Fault.Kind.SCRIPT_FLUSH,
			Fault.Kind.CLIENT_PAUSE, Fault.Kind.SUBSCRIPTIONS_KILLED, Fault.Kind.STORE_FULL, Fault.Kind.RESTART,
			Fault.Kind.RESTART_EMPTY);

	private final RedisServer server = RedisServer.startPersistent();

	@Override
	public int port() {
		return this.server.port();
	}

	@Override
	public void begin(Fault fault) {
		switch (fault.kind()) {
			case FORGET -> this.server.command("FLUSHALL");
			case SCRIPT_FLUSH -> this.server.command("SCRIPT", "FLUSH");
			case CLIENT_PAUSE -> this.server.command("CLIENT", "PAUSE", String.valueOf(fault.millis()));
			case SUBSCRIPTIONS_KILLED -> this.server.command("CLIENT", "KILL", "TYPE", "pubsub");
			case STORE_FULL -> this.server.command("CONFIG", "SET", "maxmemory", "1");
			case RESTART -> this.server.restart();
			case RESTART_EMPTY -> {
				this.server.command("FLUSHALL");
				this.server.restart();
			}
			default -> throw new IllegalArgumentException(fault.toString());
		}
	}

	@Override
	public void end(Fault fault) {
		if (fault.kind() == Fault.Kind.STORE_FULL) {
			this.server.command("CONFIG", "SET", "maxmemory", "0");
		}
	}

	@Override
	public void close() {
		this.server.close();
	}

}
