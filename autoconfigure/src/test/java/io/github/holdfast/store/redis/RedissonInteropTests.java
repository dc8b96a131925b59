package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RLock;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.store.Requests;
import io.github.holdfast.store.redis.LockScript.LockKey;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.Threads;

import static io.github.holdfast.store.Requests.LONG;
import static io.github.holdfast.store.Requests.NO_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Redisson without Holdfast, and Holdfast, on locks of the same name. */
@Timeout(120)
@ParameterizedClass
@EnumSource
class RedissonInteropTests {

	private static final int TURNS = 50;

	private final RedisServer server = RedisServer.shared();

	private final String key = "interop:" + UUID.randomUUID();

	private final RedissonClient service = RedissonClients.single(this.server.port());

	private final RLock lock = this.service.getLock(this.key);

	private final RedisNode node;

	RedissonInteropTests(RedisClientType client) {
		this.node = client.connect(this.server.port());
	}

	@AfterEach
	void close() {
		RedissonClients.close(this.service);
		this.node.close();
	}

	@Test
	void counterThatBothIncrementIsExact() throws Exception {
		String counter = "counter:" + this.key;
		Callable<Boolean> byRedisson = times(() -> {
			this.lock.lock();
			increment(counter);
			this.lock.unlock();
			return true;
		});
		Callable<Boolean> byHoldfast = times(() -> {
			LockBackend.Lease lease = this.node.acquired(Requests.request(this.key, LONG));
			increment(counter);
			return RedisNode.release(lease);
		});
		assertThat(Threads.together(4, (thread) -> ((thread % 2 == 0) ? byRedisson : byHoldfast).call()))
			.containsOnly(true);
		assertThat(this.server.command("GET", counter)).isEqualTo(String.valueOf(4 * TURNS));
	}

	private static Callable<Boolean> times(Callable<Boolean> turn) {
		return () -> {
			boolean all = true;
			for (int i = 0; i < TURNS; i++) {
				all &= turn.call();
			}
			return all;
		};
	}

	private void increment(String counter) {
		Object before = this.server.command("GET", counter);
		int value = before.equals("(nil)") ? 0 : Integer.parseInt(before.toString());
		this.server.command("SET", counter, String.valueOf(value + 1));
	}

	/** Without a message, Redisson waits until the end of the lease that it has found. */
	@Test
	void releaseWakesRedisson() throws Exception {
		LockBackend.Lease lease = this.node.acquired(Requests.request(this.key, NO_WAIT));
		assertThat(this.lock.isLocked()).isTrue();
		assertThat(this.lock.tryLock()).isFalse();
		FutureTask<Boolean> waiter = Threads.start(() -> this.lock.tryLock(LONG.toSeconds(), TimeUnit.SECONDS));
		awaitSubscribers(1);
		assertThat(waiter.isDone()).isFalse();
		long start = System.nanoTime();
		assertThat(RedisNode.release(lease)).isTrue();
		assertThat(waiter.get(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(LONG.dividedBy(2));
		assertThat(this.node.backend().acquire(Requests.request(this.key, NO_WAIT))).isNull();
	}

	/** The signal that ends the pause of a waiter, without a waiter that polls. */
	@Test
	void unlockOfRedissonIsAMessage() throws Exception {
		this.lock.lock();
		Semaphore signals = new Semaphore(0);
		Runnable end = this.node.driver().listen(LockKey.of(this.key).channel(), signals::release);
		assertThat(signals.tryAcquire(30, TimeUnit.SECONDS)).as("subscribed").isTrue();
		assertThat(signals.tryAcquire(100, TimeUnit.MILLISECONDS)).isFalse();
		this.lock.unlock();
		assertThat(signals.tryAcquire(30, TimeUnit.SECONDS)).as("released").isTrue();
		end.run();
		awaitSubscribers(0);
	}

	@Test
	void readLockOfRedissonIsKeptOut() throws Exception {
		RReadWriteLock readWrite = this.service.getReadWriteLock(this.key);
		LockBackend.Lease lease = this.node.acquired(Requests.request(this.key, NO_WAIT));
		assertThat(readWrite.readLock().tryLock()).isFalse();
		assertThat(readWrite.writeLock().tryLock()).isFalse();
		assertThat(RedisNode.release(lease)).isTrue();
		LockBackend.Lease shared = this.node.acquired(Requests.shared(this.key, NO_WAIT));
		assertThat(readWrite.readLock().tryLock()).isFalse();
		assertThat(readWrite.writeLock().tryLock()).isFalse();
		assertThat(this.lock.tryLock()).isFalse();
		assertThat(RedisNode.release(shared)).isTrue();
		assertThat(readWrite.readLock().tryLock()).isTrue();
		assertThat(this.node.backend().acquire(Requests.request(this.key, NO_WAIT))).isNull();
		assertThat(this.node.backend().acquire(Requests.shared(this.key, NO_WAIT))).isNull();
	}

	@Test
	void lockOfRedissonIsShownAndCanBeReleasedByForce() throws Exception {
		this.lock.lock();
		LockHolder holder = this.node.backend().holder(this.key);
		assertThat(holder).isNotNull();
		assertThat(holder.description()).contains("Redisson", this.service.getId());
		assertThat(holder.epoch()).isNull();
		assertThat(this.node.backend().forceRelease(this.key)).isTrue();
		this.node.acquired(Requests.request(this.key, NO_WAIT));
	}

	@Test
	void redissonCannotUnlockALockThatItDoesNotHold() throws Exception {
		LockBackend.Lease lease = this.node.acquired(Requests.request(this.key, NO_WAIT));
		assertThat(this.lock.isHeldByCurrentThread()).isFalse();
		assertThat(this.lock.forceUnlock()).isTrue();
		assertThat(RedisNode.renew(lease)).isFalse();
	}

	private void awaitSubscribers(int count) {
		String channel = LockKey.of(this.key).channel();
		await().atMost(LONG)
			.until(() -> this.server.command("PUBSUB", "NUMSUB", channel).toString().endsWith(" " + count + "]"));
	}

}
