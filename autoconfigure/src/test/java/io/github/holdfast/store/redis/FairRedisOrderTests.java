package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;
import org.redisson.client.codec.StringCodec;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Requests;
import io.github.holdfast.store.redis.LockScript.LockKey;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;
import io.github.holdfast.testsupport.Threads;

import static io.github.holdfast.store.Requests.LONG;
import static io.github.holdfast.store.Requests.NO_WAIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The order of fair waiters of three nodes, and what is left of those that gave up. */
@Timeout(120)
class FairRedisOrderTests {

	private final RedisServer server = RedisServer.start();

	private final RedisNode lettuce = RedisClientType.LETTUCE.connect(this.server.port());

	private final RedisNode redisson = RedisClientType.REDISSON.connect(this.server.port());

	/** Its user may not listen, so its waiters only poll. */
	private final RedisNode deaf = deaf();

	private final String key = "fair:" + UUID.randomUUID();

	private final Queue<String> served = new ConcurrentLinkedQueue<>();

	@AfterEach
	void close() {
		this.lettuce.close();
		this.redisson.close();
		this.deaf.close();
		this.server.close();
	}

	@Test
	void waitersOfAllNodesAreServedInTheOrderOfTheirArrival() throws Exception {
		LockBackend.Lease lease = this.lettuce.acquired(Requests.fair(this.key, NO_WAIT));
		List<FutureTask<Boolean>> waiters = List.of(queued(this.lettuce, "1"), queued(this.lettuce, "2"),
				queued(this.redisson, "3"), queued(this.deaf, "4"), queued(this.redisson, "5"), queued(this.deaf, "6"));
		assertThat(this.redisson.backend().acquire(Requests.fair(this.key, NO_WAIT))).isNull();
		assertThat(RedisNode.release(lease)).isTrue();
		for (FutureTask<Boolean> waiter : waiters) {
			assertThat(waiter.get(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
		}
		assertThat(this.served).containsExactly("1", "2", "3", "4", "5", "6");
		assertThat(waiting()).isZero();
	}

	@Test
	void releaseWakesTheFirstWaiterOnly() throws Exception {
		LockBackend.Lease lease = this.lettuce.acquired(Requests.fair(this.key, NO_WAIT));
		List<LockRequest> requests = new ArrayList<>();
		List<FutureTask<LockBackend.@Nullable Lease>> waiters = new ArrayList<>();
		for (int i = 0; i < 4; i++) {
			LockRequest request = Requests.fair(this.key, LONG);
			requests.add(request);
			waiters.add(((i % 2 == 0) ? this.lettuce : this.redisson).waiter(request));
			awaitWaiting(i + 1);
			awaitSubscriber(request);
		}
		RedissonClient listener = RedissonClients.single(this.server.port());
		Queue<String> channels = new ConcurrentLinkedQueue<>();
		listener.getPatternTopic(channel() + "*", StringCodec.INSTANCE)
			.addListener(String.class, (pattern, channel, message) -> channels.add(channel.toString()));
		for (int i = 0; i < 4; i++) {
			assertThat(waiters.subList(i, 4)).noneMatch(FutureTask::isDone);
			assertThat(RedisNode.release(lease)).isTrue();
			await().until(() -> channels.size() == 2);
			assertThat(channels).containsExactlyInAnyOrder(channel(), channel() + ":" + requests.get(i).owner().id());
			channels.clear();
			lease = waiters.get(i).get(LONG.toSeconds(), TimeUnit.SECONDS);
			assertThat(lease).isNotNull();
		}
		assertThat(RedisNode.release(lease)).isTrue();
		RedissonClients.close(listener);
	}

	@Test
	void waitersThatGiveUpLeaveTheQueue() throws Exception {
		LockBackend.Lease lease = this.lettuce.acquired(Requests.fair(this.key, NO_WAIT));
		Thread interrupted = new Thread(() -> {
			try {
				this.lettuce.backend().acquire(Requests.fair(this.key, LONG));
			}
			catch (InterruptedException ex) {
				this.served.add("interrupted");
			}
		});
		interrupted.start();
		awaitWaiting(1);
		for (int i = 0; i < 10; i++) {
			assertThat(this.redisson.backend().acquire(Requests.fair(this.key, Duration.ofMillis(i)))).isNull();
			assertThat(waiting()).isOne();
		}
		FutureTask<Boolean> last = queued(this.redisson, "last");
		interrupted.interrupt();
		interrupted.join();
		assertThat(waiting()).isOne();
		assertThat(RedisNode.release(lease)).isTrue();
		assertThat(last.get(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(this.served).containsExactly("interrupted", "last");
	}

	@Test
	void firstWaiterThatIsGoneCostsTwoSeconds() throws Exception {
		LockBackend.Lease lease = this.lettuce.acquired(Requests.fair(this.key, NO_WAIT));
		FutureTask<Boolean> gone = queued(this.redisson, "gone");
		FutureTask<Boolean> next = queued(this.lettuce, "next");
		// It cannot leave the queue, as if its process had been killed
		this.redisson.close();
		assertThat(gone).failsWithin(LONG);
		assertThat(RedisNode.release(lease)).isTrue();
		long start = System.nanoTime();
		assertThat(next.get(LONG.toSeconds(), TimeUnit.SECONDS)).isTrue();
		assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(4));
		assertThat(this.served).containsExactly("next");
	}

	private RedisNode deaf() {
		this.server.command("ACL", "SETUSER", "deaf", "on", ">pw", "~*", "&*", "+@all", "-subscribe");
		return RedisClientType.LETTUCE.connect(this.server.port(), "deaf", "pw");
	}

	/** Starts to wait, and returns when the wait has begun. */
	private FutureTask<Boolean> queued(RedisNode node, String name) {
		long before = waiting();
		Callable<Boolean> call = () -> {
			LockBackend.Lease lease = node.acquired(Requests.fair(this.key, LONG));
			this.served.add(name);
			return RedisNode.release(lease);
		};
		FutureTask<Boolean> waiter = Threads.start(call);
		awaitWaiting(before + 1);
		return waiter;
	}

	private void awaitWaiting(long count) {
		await().until(() -> waiting() == count);
	}

	private long waiting() {
		return (Long) this.server.command("ZCARD", LockKey.of(this.key).names().get(2));
	}

	private String channel() {
		return LockKey.of(this.key).channel();
	}

	private void awaitSubscriber(LockRequest waiter) {
		await().until(() -> this.server.command("PUBSUB", "NUMSUB", channel() + ":" + waiter.owner().id())
			.toString()
			.endsWith(" 1]"));
	}

}
