package io.github.holdfast.testsupport;

import java.time.Duration;

import static org.awaitility.Awaitility.await;

/**
 * A Redis master and its replica behind one address that moves to the replica when the
 * master has failed, as managed services have it. All has gone when it is closed or this
 * JVM exits.
 */
public final class ReplicatedRedis implements AutoCloseable {

	private static final Duration PATIENCE = Duration.ofMinutes(3);

	private final RedisServer master;

	private final FaultProxy link;

	private final RedisServer replica;

	private final FaultProxy address;

	/**
	 * Start the servers, and wait until the replica follows the master.
	 */
	public ReplicatedRedis() {
		this.master = RedisServer.start("--repl-diskless-sync", "yes", "--repl-diskless-sync-delay", "0");
		this.link = new FaultProxy(this.master.port());
		this.replica = RedisServer.start("--replicaof", "127.0.0.1", String.valueOf(this.link.port()));
		this.address = new FaultProxy(this.master.port());
		await().atMost(PATIENCE).until(() -> this.replica.info("master_link_status").equals("up"));
	}

	/**
	 * The local port of the address.
	 * @return the port
	 */
	public int port() {
		return this.address.port();
	}

	/**
	 * Waits until the replica has what the master has, and lets nothing more reach it.
	 */
	public void cutReplication() {
		await().atMost(PATIENCE)
			.until(() -> this.replica.info("slave_repl_offset").equals(this.master.info("master_repl_offset")));
		this.link.inject(FaultProxy.Fault.BLACKHOLE);
	}

	/**
	 * Kills the master, makes the replica the new one and moves the address to it.
	 */
	public void failOver() {
		this.master.kill();
		this.replica.command("REPLICAOF", "NO", "ONE");
		this.address.redirect(this.replica.port());
	}

	@Override
	public void close() {
		this.address.close();
		this.link.close();
		this.replica.close();
		this.master.close();
	}

}
