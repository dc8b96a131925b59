package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentLinkedQueue;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockLease;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The order of fair waiters in three JVMs with two clients, and what is left of those who
 * gave up.
 */
@Timeout(120)
class FairRedisOrderTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	/** Later, a place in the queue may have run out. */
	private static final Duration MOST_OF_TICKET_TIME = RedisLocks.TICKET_TIME.minusSeconds(1);

	private final RedisServer server = RedisServer.shared();

	private final RedisConnectionFactory lettuce = RedisConnections.lettuce(this.server.port());

	/** Whose user may not listen, so that its waiters only ask. */
	private final RedisConnectionFactory deaf = deaf();

	private final RedissonClient redisson = RedissonClients.single(this.server.port());

	private final LockBackend first = new HandoverLockBackend(new RedisLockBackend(() -> this.lettuce));

	private final LockBackend second = new HandoverLockBackend(RedisLockBackend.redisson(() -> this.redisson));

	private final LockBackend third = new HandoverLockBackend(new RedisLockBackend(() -> this.deaf));

	private final String key = "fair:" + UUID.randomUUID();

	private final Queue<String> served = new ConcurrentLinkedQueue<>();

	@AfterEach
	void close() {
		RedissonClients.close(this.redisson);
		RedisConnections.close(this.lettuce);
		RedisConnections.close(this.deaf);
	}

	@Test
	void waitersOfAllNodesAreServedInTheOrderOfTheirArrival() throws Exception {
		LockLease lease = acquired();
		List<CompletableFuture<Void>> waiters = List.of(queued(this.first, "1"), queued(this.first, "2"),
				queued(this.second, "3"), queued(this.third, "4"), queued(this.second, "5"), queued(this.third, "6"));
		assertThat(lease.release().toCompletableFuture().get()).isTrue();
		waiters.forEach(CompletableFuture::join);
		assertThat(this.served).containsExactly("1", "2", "3", "4", "5", "6");
		assertThat(waiting()).isZero();
	}

	@Test
	@Tag("F22")
	void waitersWhoGiveUpLeaveTheQueue() throws Exception {
		LockLease lease = acquired();
		Thread interrupted = new Thread(() -> {
			try {
				this.first.acquire(RedisRequests.fair(this.key, LONG));
			}
			catch (InterruptedException ex) {
				this.served.add("interrupted");
			}
		});
		interrupted.start();
		await().until(() -> waiting() == 1);
		for (int i = 0; i < 20; i++) {
			assertThat(this.second.acquire(RedisRequests.fair(this.key, Duration.ofMillis(i)))).isNull();
			awaitAllButOneHaveLeft();
		}
		CompletableFuture<Void> last = queued(this.second, "last");
		interrupted.interrupt();
		interrupted.join();
		awaitAllButOneHaveLeft();
		assertThat(lease.release().toCompletableFuture().get()).isTrue();
		last.join();
		assertThat(this.served).containsExactly("interrupted", "last");
	}

	@Test
	@Tag("F22")
	void waiterWhoseJvmHasGoneLosesItsPlace() throws Exception {
		LockLease lease = acquired();
		CompletableFuture<Void> gone = queued(this.second, "gone");
		CompletableFuture<Void> next = queued(this.first, "next");
		long start = System.nanoTime();
		// Without a way to leave the queue, as if it had been killed
		RedissonClients.close(this.redisson);
		assertThat(gone.handle((nothing, ex) -> ex).join()).isNotNull();
		long waiting = waiting();
		if (Duration.ofNanos(System.nanoTime() - start).compareTo(MOST_OF_TICKET_TIME) < 0) {
			assertThat(waiting).isEqualTo(2);
		}
		assertThat(lease.release().toCompletableFuture().get()).isTrue();
		next.join();
		assertThat(this.served).containsExactly("next");
	}

	@Test
	@Tag("F22")
	void waiterIsServedWhenTheHolderHasGone() throws Exception {
		LockLease lease = this.first.acquire(RedisRequests.request(this.key, LONG, Duration.ofSeconds(1)));
		assertThat(lease).isNotNull();
		assertThat(this.second.acquire(RedisRequests.fair(this.key, LONG))).isNotNull();
		assertThat(lease.isValid()).isFalse();
	}

	private RedisConnectionFactory deaf() {
		this.server.command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "&*", "+@all", "-subscribe");
		return RedisConnections.lettuce(this.server.port(), "deaf", "pw");
	}

	private LockLease acquired() throws InterruptedException {
		LockLease lease = this.first.acquire(RedisRequests.fair(this.key, LONG));
		assertThat(lease).isNotNull();
		return lease;
	}

	/**
	 * Starts to wait, and returns when the wait has begun.
	 */
	private CompletableFuture<Void> queued(LockBackend backend, String name) {
		long before = waiting();
		CompletableFuture<Void> waiter = new CompletableFuture<>();
		Thread thread = new Thread(() -> {
			try {
				LockLease lease = backend.acquire(RedisRequests.fair(this.key, LONG));
				assertThat(lease).isNotNull();
				this.served.add(name);
				lease.release().toCompletableFuture().join();
				waiter.complete(null);
			}
			catch (InterruptedException | RuntimeException | AssertionError ex) {
				waiter.completeExceptionally(new CompletionException(ex));
			}
		});
		thread.setDaemon(true);
		thread.start();
		await().until(() -> waiting() == before + 1);
		return waiter;
	}

	private void awaitAllButOneHaveLeft() {
		await().pollDelay(Duration.ZERO).atMost(MOST_OF_TICKET_TIME).until(() -> waiting() == 1);
	}

	private long waiting() {
		return (Long) this.server.command("ZCARD", LockKey.of(this.key).queue());
	}

}
