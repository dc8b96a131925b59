package io.github.holdfast.testsupport;

import java.io.Closeable;
import java.io.IOException;
import java.time.Duration;
import java.util.Set;
import java.util.function.Function;
import java.util.function.IntFunction;

import io.github.holdfast.ManageableLockBackend;

/**
 * A store as a contract sees it: two nodes, of which the first has a proxy.
 *
 * @param <C> what a node reaches the store with
 */
public abstract class TestStore<C extends Closeable> implements Closeable {

	private final FaultProxy proxy;

	private final C nearClient;

	private final C farClient;

	private final ManageableLockBackend near;

	private final ManageableLockBackend far;

	protected TestStore(int port, IntFunction<C> connect, Function<C, ManageableLockBackend> backend) {
		this.proxy = new FaultProxy(port);
		this.nearClient = connect.apply(this.proxy.port());
		this.farClient = connect.apply(port);
		this.near = backend.apply(this.nearClient);
		this.far = backend.apply(this.farClient);
	}

	public final C nearClient() {
		return this.nearClient;
	}

	public final C farClient() {
		return this.farClient;
	}

	/** The node behind the proxy. */
	public final ManageableLockBackend near() {
		return this.near;
	}

	/** The node that reaches the store at any time. */
	public final ManageableLockBackend far() {
		return this.far;
	}

	/** The network of the first node. */
	final FaultProxy proxy() {
		return this.proxy;
	}

	/** Whether somebody has a lock, or a place among those who wait for it. */
	public abstract boolean isHeld(String key);

	/** Whether somebody waits for a lock that another one has. */
	public abstract boolean isWaitedFor(String key);

	/**
	 * Takes a lock away from its holder behind everybody's back, as an operator could.
	 */
	public abstract void remove(String key);

	/** What an exception says if the store does not answer. */
	public String silence() {
		return "did not answer in time";
	}

	/** What the store tells of a holder, besides owner and epoch. */
	public Set<Told> told() {
		return Set.of();
	}

	/**
	 * The time of its leases. It is short where what a node could not give back runs out.
	 */
	public Duration leaseTime() {
		return Duration.ofSeconds(60);
	}

	/** What the locks of the first node would end with, if anything. */
	public long session() {
		return 0;
	}

	/** Closes the clients and the proxy, but not a server that others use too. */
	@Override
	public final void close() throws IOException {
		this.nearClient.close();
		this.farClient.close();
		this.proxy.close();
	}

	/** What a store may tell of a holder. */
	public enum Told {

		/** When the lock was granted. */
		SINCE,

		/** When the lease runs out. */
		EXPIRES

	}

}
