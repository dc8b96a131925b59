package io.github.holdfast.store.redis;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.redisson.api.RedissonClient;

import org.springframework.data.redis.connection.RedisConnectionFactory;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.RedisConnections;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

/**
 * Locks that several holders share, on nodes with both clients and beside nodes of 0.2.0,
 * and what is in Redis then.
 */
@Timeout(120)
@Tag("F42")
class SharedRedisLockTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration LONG = Duration.ofSeconds(60);

	private static final Duration LEASE_TIME = Duration.ofSeconds(3);

	private final RedisServer server = RedisServer.shared();

	private final RedisConnectionFactory lettuce = RedisConnections.lettuce(this.server.port());

	private final RedissonClient redisson = RedissonClients.single(this.server.port());

	private final LockBackend first = new RedisLockBackend(() -> this.lettuce);

	private final LockBackend second = RedisLockBackend.redisson(() -> this.redisson);

	private final String key = "shared:" + UUID.randomUUID();

	private final LockKey names = LockKey.of(this.key);

	@AfterEach
	void close() {
		RedissonClients.close(this.redisson);
		RedisConnections.close(this.lettuce);
	}

	@Test
	void writerOfAnEarlierVersionIsKeptOutByReadersAndKeepsThemOut() throws Exception {
		LockLease reader = acquired(this.first, shared(NO_WAIT));
		LockLease other = acquired(this.second, shared(NO_WAIT));
		for (EarlierNode script : List.of(EarlierNode.ACQUIRE, EarlierNode.ACQUIRE_IN_TURN)) {
			assertThat(script.run(this.server, this.names, "old")).asString().startsWith("[0, ");
		}
		assertThat(released(reader)).isTrue();
		assertThat(EarlierNode.ACQUIRE.run(this.server, this.names, "old")).asString().startsWith("[0, ");
		assertThat(EarlierNode.RENEW.run(this.server, this.names, "old")).asString().isEqualTo("[0]");
		assertThat(EarlierNode.RELEASE.run(this.server, this.names, "old")).asString().isEqualTo("[0]");
		assertThat(other.renew(LONG)).isTrue();
		assertThat(this.first.acquire(shared(NO_WAIT))).as("behind the earlier node in the queue").isNull();
		assertThat(released(other)).isTrue();
		assertThat(EarlierNode.ACQUIRE_IN_TURN.run(this.server, this.names, "old")).asString()
			.isEqualTo("[" + this.server.command("HGET", this.names.counter(), "epoch") + "]");
		assertThat(this.first.acquire(shared(NO_WAIT))).isNull();
		assertThat(other.renew(LONG)).isFalse();
		assertThat(released(other)).isFalse();
		assertThat(EarlierNode.RENEW.run(this.server, this.names, "old")).asString().isEqualTo("[1]");
		assertThat(EarlierNode.RELEASE.run(this.server, this.names, "old")).asString().startsWith("[1, ");
		assertThat(released(acquired(this.first, shared(NO_WAIT)))).isTrue();
	}

	/**
	 * Shows that the scripts of the earlier version would get the lock otherwise.
	 */
	@Test
	void writerOfAnEarlierVersionGetsAFreeLock() throws Exception {
		assertThat(released(acquired(this.first, shared(NO_WAIT)))).isTrue();
		assertThat(EarlierNode.ACQUIRE.run(this.server, this.names, "old")).asString()
			.isEqualTo("[" + this.server.command("HGET", this.names.counter(), "epoch") + "]");
		assertThat(this.second.acquire(RedisRequests.request(this.key, NO_WAIT))).isNull();
	}

	@Test
	@Tag("F12")
	void readerThatIsKilledFreesTheLockWithItsLease() throws Exception {
		LockLease reader = acquired(this.first, shared(NO_WAIT));
		try (ChildJvm dying = ChildJvm.start(Reader.class, Integer.toString(this.server.port()), this.key)) {
			dying.await("SHARES", LONG);
			dying.kill();
			assertThat(released(reader)).isTrue();
			assertThat(this.first.acquire(RedisRequests.request(this.key, NO_WAIT))).as("a writer at once").isNull();
			assertThat(released(acquired(this.second, RedisRequests.request(this.key, LONG)))).isTrue();
		}
	}

	@Test
	void fairReadersAndWritersAreServedInTheOrderOfTheirArrival() throws Exception {
		LockLease writer = acquired(this.first, RedisRequests.request(this.key, NO_WAIT));
		FutureTask<@Nullable LockLease> reader = queued(this.second, fair(LockMode.SHARED));
		FutureTask<@Nullable LockLease> alsoReader = queued(this.first, fair(LockMode.SHARED));
		FutureTask<@Nullable LockLease> next = queued(this.second, fair(LockMode.EXCLUSIVE));
		FutureTask<@Nullable LockLease> last = queued(this.first, fair(LockMode.SHARED));
		assertThat(released(writer)).isTrue();
		LockLease one = reader.get(60, TimeUnit.SECONDS);
		LockLease two = alsoReader.get(60, TimeUnit.SECONDS);
		assertThat(next.isDone() || last.isDone()).isFalse();
		assertThat(released(one)).isTrue();
		assertThat(released(two)).isTrue();
		LockLease written = next.get(60, TimeUnit.SECONDS);
		assertThat(last.isDone()).isFalse();
		assertThat(released(written)).isTrue();
		assertThat(released(last.get(60, TimeUnit.SECONDS))).isTrue();
		assertThat(this.server.command("KEYS", "*" + this.key + "*")).asString()
			.isEqualTo("[" + this.names.counter() + "]");
	}

	@Test
	void nothingButTheCounterIsLeft() throws Exception {
		LockLease reader = acquired(this.first, shared(NO_WAIT));
		LockLease other = acquired(this.second, shared(NO_WAIT));
		assertThat(this.first.acquire(RedisRequests.request(this.key, Duration.ofMillis(200)))).isNull();
		assertThat(released(reader)).isTrue();
		assertThat(released(other)).isTrue();
		await().until(() -> this.server.command("KEYS", "*" + this.key + "*").toString(),
				("[" + this.names.counter() + "]")::equals);
		assertThat((Long) this.server.command("PTTL", this.names.counter())).isPositive();
	}

	@Test
	void readersAreToldTogetherAndTakenAwayTogether() throws Exception {
		LockLease reader = acquired(this.first, shared(NO_WAIT));
		LockLease other = acquired(this.second, shared(NO_WAIT));
		LockHolder holder = this.first.holder(this.key);
		assertThat(holder).isNotNull();
		assertThat(holder.text()).startsWith("held by several, at last test, whose lease");
		assertThat(holder.owner()).isEqualTo(LockScript.SHARED);
		assertThat(holder.epoch()).isEqualTo(other.epoch());
		assertThat(this.second.evict(this.key, LockScript.SHARED, other.epoch()))
			.isEqualTo(LockBackend.Eviction.EVICTED);
		assertReadersAreGone(reader, other);
	}

	@Test
	@Tag("F33")
	void readersNoticeThatTheirLockIsGone() throws Exception {
		LockLease reader = acquired(this.first, shared(NO_WAIT));
		LockLease other = acquired(this.second, shared(NO_WAIT));
		this.server.command("DEL", this.names.lock());
		LockLease late = acquired(this.second, shared(NO_WAIT));
		assertReadersAreGone(reader, other);
		assertThat(late.renew(LONG)).isTrue();
		assertThat(this.first.acquire(RedisRequests.request(this.key, NO_WAIT))).isNull();
		assertThat(released(late)).isTrue();
	}

	private static void assertReadersAreGone(LockLease... readers) {
		assertThat(Stream.of(readers)).allSatisfy((reader) -> {
			assertThat(reader.renew(LONG)).isFalse();
			assertThat(reader.isValid()).isFalse();
		});
	}

	@Test
	void readersOfOneJvmAndSeveralKeysAreTogetherAndAReaderMayNotWrite() throws Exception {
		LockTemplate exclusive = new LockTemplate(() -> new HandoverLockBackend(this.first), List::of)
			.withWaitTime(LONG);
		LockTemplate remote = new LockTemplate(() -> new HandoverLockBackend(this.second), List::of)
			.withMode(LockMode.SHARED)
			.withWaitTime(LONG);
		List<String> keys = List.of(this.key, this.key + ":other");
		try {
			LockTemplate shared = exclusive.withMode(LockMode.SHARED).withName("reader");
			shared.execute(keys, () -> {
				FutureTask<String> neighbour = new FutureTask<>(
						() -> shared.execute(keys, () -> remote.execute(keys, () -> "met")));
				new Thread(neighbour).start();
				assertThat(neighbour.get(60, TimeUnit.SECONDS)).isEqualTo("met");
				return shared.execute(this.key,
						() -> assertThatIllegalStateException()
							.isThrownBy(() -> exclusive.execute(this.key, () -> "written"))
							.withMessageContaining("cannot become exclusive"));
			});
			assertThat(exclusive.<String, RuntimeException>execute(keys, () -> shared.execute(keys, () -> "read")))
				.isEqualTo("read");
		}
		finally {
			TemplateAccess.close(exclusive);
			TemplateAccess.close(remote);
		}
	}

	private LockRequest shared(Duration waitTime) {
		return shared(this.key, waitTime, LONG);
	}

	private static LockRequest shared(String key, Duration waitTime, Duration leaseTime) {
		return new LockRequest(key, "test", LockMode.SHARED, false, waitTime, leaseTime, UUID.randomUUID().toString(),
				"test", 0);
	}

	private LockRequest fair(LockMode mode) {
		return new LockRequest(this.key, "test", mode, true, LONG, LONG, UUID.randomUUID().toString(), "test", 0);
	}

	/**
	 * Starts to wait, and returns when the wait has begun.
	 */
	private FutureTask<@Nullable LockLease> queued(LockBackend backend, LockRequest request) {
		Object before = this.server.command("ZCARD", this.names.queue());
		FutureTask<@Nullable LockLease> waiter = new FutureTask<>(() -> backend.acquire(request));
		Thread thread = new Thread(waiter);
		thread.setDaemon(true);
		thread.start();
		await().until(() -> !this.server.command("ZCARD", this.names.queue()).equals(before));
		return waiter;
	}

	private static LockLease acquired(LockBackend backend, LockRequest request) throws InterruptedException {
		LockLease lease = backend.acquire(request);
		assertThat(lease).isNotNull();
		return lease;
	}

	private static boolean released(@Nullable LockLease lease) {
		assertThat(lease).isNotNull();
		return lease.release().toCompletableFuture().join();
	}

	/**
	 * Shares the lock until it is killed.
	 */
	static final class Reader {

		private Reader() {
		}

		public static void main(String[] args) throws InterruptedException, IOException {
			RedisConnectionFactory connections = RedisConnections.lettuce(Integer.parseInt(args[0]));
			acquired(new RedisLockBackend(() -> connections), shared(args[1], NO_WAIT, LEASE_TIME));
			System.out.println("SHARES");
			System.in.read();
			System.exit(0);
		}

	}

	/**
	 * The scripts of 0.2.0, word by word.
	 */
	enum EarlierNode {

		ACQUIRE("""
				local last = math.floor((#ARGV - 2) / 3) - 1
				local grants = {}
				for n = 0, last do
					local held = redis.call('hmget', KEYS[2 * n + 1], 'owner', 'epoch')
					if held[1] == ARGV[3 * n + 3] then
						grants[n + 1] = tonumber(held[2])
					elseif held[1] then
						return {0, redis.call('pttl', KEYS[2 * n + 1]), held[1]}
					end
				end
				local time = redis.call('time')
				local now = time[1] * 1000000 + time[2]
				for n = 0, last do
					local epoch, minimum = grants[n + 1], tonumber(ARGV[3 * n + 5])
					if not epoch or epoch < minimum then
						local lock, counter = KEYS[2 * n + 1], KEYS[2 * n + 2]
						local owner, holder = ARGV[3 * n + 3], ARGV[3 * n + 4]
						local before = tonumber(redis.call('hget', counter, 'epoch') or 0)
						epoch = epoch and minimum or math.max(before + 1, now, minimum)
						local text = string.format('%.0f', epoch)
						redis.call('hset', lock, 'owner', owner, 'epoch', text, 'holder', holder)
						redis.call('pexpire', lock, ARGV[1])
						redis.call('hset', counter, 'epoch', text, 'owner', owner)
						redis.call('pexpire', counter, ARGV[2])
						grants[n + 1] = epoch
					end
				end
				return grants
				""", 2, "60000", "86460000", "OWNER", "holder", "0"),

		ACQUIRE_IN_TURN("""
				local owner, queue, tickets = ARGV[3], KEYS[3], KEYS[4]
				local clock = redis.call('time')
				local arrival = clock[1] * 1000000 + clock[2]
				for _, gone in ipairs(redis.call('zrangebyscore', tickets, '-inf', arrival)) do
					redis.call('zrem', queue, gone)
					redis.call('zrem', tickets, gone)
				end
				local first = redis.call('zrange', queue, 0, 0)[1]
				local holding = redis.call('hget', KEYS[1], 'owner')
				if holding ~= owner and (holding or (first and first ~= owner)) then
					if not redis.call('zscore', queue, owner) then
						local latest = redis.call('zrevrange', queue, 0, 0, 'withscores')
						redis.call('zadd', queue, math.max((latest[2] or 0) + 1, arrival), owner)
					end
					redis.call('zadd', tickets, arrival + ARGV[6] * 1000, owner)
					redis.call('pexpire', queue, ARGV[6])
					redis.call('pexpire', tickets, ARGV[6])
					return {0, redis.call('pttl', KEYS[1]), holding or first}
				end
				redis.call('zrem', queue, owner)
				redis.call('zrem', tickets, owner)
				""" + ACQUIRE.lua, 4, "60000", "86460000", "OWNER", "holder", "0", "5000"),

		RENEW("""
				if redis.call('hget', KEYS[1], 'owner') ~= ARGV[1] then
					return {0}
				end
				redis.call('pexpire', KEYS[1], ARGV[2])
				redis.call('pexpire', KEYS[2], ARGV[3])
				return {1}
				""", 2, "OWNER", "60000", "86460000"),

		RELEASE("""
				local owner = redis.call('hget', KEYS[1], 'owner')
				if owner == ARGV[1] then
					redis.call('del', KEYS[1])
					return {1, redis.call('publish', ARGV[2], '1')}
				end
				if not owner and redis.call('hget', KEYS[2], 'owner') == ARGV[1] then
					return {1}
				end
				return {0}
				""", 2, "OWNER", "channel");

		private final String lua;

		private final int keys;

		private final List<String> args;

		EarlierNode(String lua, int keys, String... args) {
			this.lua = lua;
			this.keys = keys;
			this.args = List.of(args);
		}

		Object run(RedisServer server, LockKey names, String owner) {
			Stream<String> keys = Stream.of(names.lock(), names.counter(), names.queue(), names.tickets())
				.limit(this.keys);
			Stream<String> args = this.args.stream().map((arg) -> arg.equals("OWNER") ? owner : arg);
			Stream<String> head = Stream.of("EVAL", this.lua, Integer.toString(this.keys));
			return server.command(Stream.of(head, keys, args).flatMap((words) -> words).toArray(String[]::new));
		}

	}

}
