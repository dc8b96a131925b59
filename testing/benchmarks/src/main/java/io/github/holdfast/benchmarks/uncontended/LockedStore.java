package io.github.holdfast.benchmarks.uncontended;

import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.util.Assert;

import io.github.holdfast.benchmarks.contender.Contender;
import io.github.holdfast.benchmarks.contender.LockClient;
import io.github.holdfast.benchmarks.contender.Store;
import io.github.holdfast.benchmarks.contender.Stores;

/**
 * The servers of one contender, and an application that locks in them.
 */
final class LockedStore implements AutoCloseable {

	private static final int CONTENDERS = 4;

	private static final int TURNS = 100;

	private final Stores stores;

	private final boolean redis;

	private final ConfigurableApplicationContext application;

	private final LockClient client;

	private int counter;

	private LockedStore(Stores stores, Contender lock) {
		this.stores = stores;
		this.redis = lock.stores().contains(Store.REDIS);
		this.application = lock.start(false, stores.properties());
		this.client = this.application.getBean(LockClient.class);
	}

	static LockedStore start(Contender lock) {
		Stores stores = Stores.start(lock.stores());
		try {
			return new LockedStore(stores, lock);
		}
		catch (RuntimeException ex) {
			stores.close();
			throw ex;
		}
	}

	LockClient client() {
		return this.client;
	}

	/**
	 * Fails if two threads hold the lock of one key at once.
	 */
	void checkExclusion() {
		CompletableFuture<?>[] threads = IntStream.range(0, CONTENDERS)
			.mapToObj((i) -> CompletableFuture.runAsync(() -> call(TURNS), (task) -> new Thread(task).start()))
			.toArray(CompletableFuture<?>[]::new);
		CompletableFuture.allOf(threads).join();
		Assert.state(this.counter == CONTENDERS * TURNS, () -> "Only " + this.counter + " calls have counted");
	}

	/**
	 * Counts what is sent to Redis. Of other stores this is not known.
	 */
	double commandsPerCall(int calls) throws IOException {
		if (!this.redis) {
			return Double.NaN;
		}
		int port = this.application.getEnvironment().getRequiredProperty("spring.data.redis.port", Integer.class);
		return (double) SentCommands.during(port, () -> call(calls)) / calls;
	}

	private void call(int times) {
		for (int i = 0; i < times; i++) {
			this.client.run("inventory:SKU", () -> this.counter++);
		}
	}

	@Override
	public void close() {
		this.application.close();
		this.stores.close();
	}

}
