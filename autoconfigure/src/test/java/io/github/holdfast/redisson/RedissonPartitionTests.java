package io.github.holdfast.redisson;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.redisson.api.RedissonClient;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedissonClients;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The network between a client and Redis fails at each step of a lock. Another client
 * sees what is left.
 */
@Timeout(120)
@Tag("long")
class RedissonPartitionTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final RedisServer server = RedisServer.start();

	private final FaultProxy proxy = new FaultProxy(server.port());

	private final RedissonClient near = RedissonClients.single(this.proxy.port());

	private final RedissonClient far = RedissonClients.single(server.port());

	private final RedissonLockBackend backend = new RedissonLockBackend(() -> this.near);

	private final RedissonLockBackend other = new RedissonLockBackend(() -> this.far);

	private final String key = "partition:" + UUID.randomUUID();

	@AfterAll
	static void stop() {
		server.close();
	}

	@AfterEach
	void close() {
		this.proxy.inject(Fault.NONE);
		RedissonClients.close(this.near);
		RedissonClients.close(this.far);
		this.proxy.close();
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS", "HOLD_REPLIES" })
	@Tag("F20")
	@Tag("F23")
	void requestWithoutAnswerFailsAndIsGivenBack(Fault fault) throws Exception {
		connect();
		this.proxy.inject(fault);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquire(RedissonRequests.request(this.key, NO_WAIT)))
			.withMessageContaining("did not answer in time");
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
	}

	@Test
	@Tag("F20")
	@Tag("F23")
	void grantWhoseAnswerWasLostWithTheConnectionIsGivenBack() throws Exception {
		connect();
		this.proxy.inject(Fault.DROP_REPLIES);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquire(RedissonRequests.request(this.key, NO_WAIT)));
		this.proxy.inject(Fault.NONE);
		this.proxy.reset();
		awaitFreeForGood();
	}

	/**
	 * With a client that gives up sooner than its defaults do.
	 */
	@Test
	@Tag("F79")
	void releaseThatFailedIsSentAgain() throws Exception {
		RedissonClient impatient = RedissonClients.create((config) -> config.useSingleServer()
			.setAddress("redis://127.0.0.1:" + this.proxy.port())
			.setConnectionMinimumIdleSize(1)
			.setRetryAttempts(0)
			.setTimeout(500));
		try (RedissonLockBackend backend = new RedissonLockBackend(() -> impatient)) {
			LockLease lease = backend.acquire(RedissonRequests.request(this.key, PATIENCE, Duration.ofMinutes(10)));
			assertThat(lease).isNotNull();
			this.proxy.inject(Fault.REFUSE);
			this.proxy.reset();
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(lease.release().toCompletableFuture()::get)
				.withCauseInstanceOf(LockBackendException.class);
			this.proxy.inject(Fault.NONE);
			await().atMost(PATIENCE).until(() -> !isHeld());
		}
		finally {
			RedissonClients.close(impatient);
		}
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS", "HOLD_REPLIES" })
	@Tag("F20")
	void waiterThatIsCutOffFailsAndLeavesNothing(Fault fault) throws Exception {
		connect();
		LockLease lease = acquired(this.other);
		FutureTask<@Nullable LockLease> waiter = start(
				() -> this.backend.acquire(RedissonRequests.request(this.key, Duration.ofSeconds(6))));
		awaitSubscribed();
		this.proxy.inject(fault);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockBackendException.class);
		lease.release().toCompletableFuture().get();
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS", "HOLD_REPLIES" })
	@Tag("F20")
	void holderThatIsCutOffKnowsItBeforeOthersGetTheLock(Fault fault) throws Exception {
		connect();
		LockLease lease = this.backend.acquire(RedissonRequests.request(this.key, PATIENCE, Duration.ofSeconds(1)));
		assertThat(lease).isNotNull();
		this.proxy.inject(fault);
		FutureTask<Boolean> renewal = start(() -> lease.renew(Duration.ofSeconds(1)));
		LockLease successor = this.other.acquire(RedissonRequests.request(this.key, PATIENCE));
		assertThat(lease.isValid()).isFalse();
		assertThat(successor).isNotNull();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(renewal::get)
			.withCauseInstanceOf(LockBackendException.class);
		this.proxy.inject(Fault.NONE);
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(successor.renew(PATIENCE)).isTrue();
		assertThat(successor.release().toCompletableFuture().get()).isTrue();
	}

	@Test
	@Tag("F20")
	void renewalThatShortensTheLeaseCountsAlthoughItsAnswerIsLost() throws Exception {
		LockLease lease = acquired(this.backend);
		// So that Redis knows the script
		assertThat(lease.renew(PATIENCE)).isTrue();
		this.proxy.inject(Fault.HOLD_REPLIES);
		FutureTask<Boolean> renewal = start(() -> lease.renew(Duration.ofMillis(500)));
		LockLease successor = this.other.acquire(RedissonRequests.request(this.key, PATIENCE));
		assertThat(successor).isNotNull();
		assertThat(lease.isValid()).isFalse();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(renewal::get);
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS", "HOLD_REPLIES" })
	@Tag("F20")
	void releaseThatIsCutOffFailsAndArrivesLater(Fault fault) throws Exception {
		LockLease lease = acquired(this.backend);
		this.proxy.inject(fault);
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> lease.release().toCompletableFuture().get())
			.withCauseInstanceOf(LockBackendException.class);
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
	}

	@Test
	@Tag("F16")
	void interruptWhileTheRequestIsUnderWayLeavesNothing() throws Exception {
		connect();
		this.proxy.inject(Fault.HOLD_REPLIES);
		FutureTask<@Nullable LockLease> acquisition = new FutureTask<>(
				() -> this.backend.acquire(RedissonRequests.request(this.key, PATIENCE)));
		Thread thread = new Thread(acquisition);
		thread.start();
		await().until(this::isHeld);
		thread.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(acquisition::get)
			.withCauseInstanceOf(InterruptedException.class);
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
	}

	@Test
	@Tag("F24")
	void leaseOfASlowRedisIsCountedFromBeforeTheRequest() throws Exception {
		connect();
		this.proxy.delay(Duration.ofMillis(300));
		LockLease slow = this.backend.acquire(RedissonRequests.request(this.key, PATIENCE, Duration.ofSeconds(30)));
		assertThat(slow).isNotNull();
		assertThat(slow.remaining()).isLessThan(Duration.ofMillis(29_400));
		assertThat(slow.renew(Duration.ofSeconds(30))).isTrue();
		assertThat(slow.remaining()).isLessThan(Duration.ofMillis(29_400));
	}

	@Test
	@Tag("F24")
	void lockWhoseLeaseIsOverBeforeItStartsIsNotAcquired() throws Exception {
		connect();
		this.proxy.delay(Duration.ofMillis(300));
		LockLease lease = this.backend.acquire(RedissonRequests.request(this.key, NO_WAIT, Duration.ofMillis(500)));
		assertThat(lease).isNull();
	}

	/**
	 * The connection is made at the first use, which must not meet the fault. A request
	 * on one that has just been broken may fail.
	 */
	private void connect() {
		await().atMost(PATIENCE).ignoreExceptionsInstanceOf(LockBackendException.class).until(() -> {
			LockLease lease = this.backend.acquire(RedissonRequests.request("connect:" + this.key, PATIENCE));
			return lease != null && lease.release().toCompletableFuture().get();
		});
	}

	private LockLease acquired(RedissonLockBackend backend) throws InterruptedException {
		LockLease lease = backend.acquire(RedissonRequests.request(this.key, PATIENCE));
		assertThat(lease).isNotNull();
		return lease;
	}

	private <T extends @Nullable Object> FutureTask<T> start(Callable<T> call) {
		FutureTask<T> task = new FutureTask<>(call);
		new Thread(task).start();
		return task;
	}

	private boolean isHeld() {
		return server.command("EXISTS", LockNames.of(this.key).lock()).equals(1L);
	}

	private void awaitSubscribed() {
		await().until(
				() -> server.command("PUBSUB", "NUMSUB", LockNames.of(this.key).channel()).toString().endsWith(" 1]"));
	}

	/**
	 * Long before the lease would run out; then nothing that is still on its way takes
	 * the lock.
	 */
	private void awaitFreeForGood() throws Exception {
		connect();
		await().atMost(PATIENCE).until(() -> !isHeld());
		await().during(Duration.ofMillis(300)).atMost(PATIENCE).until(() -> !isHeld());
	}

}
