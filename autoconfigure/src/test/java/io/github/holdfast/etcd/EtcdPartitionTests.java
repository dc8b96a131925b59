package io.github.holdfast.etcd;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.RequiresEtcd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The network between a client and etcd fails at each step of a lock. Another client sees
 * what is left.
 */
@Timeout(120)
@Tag("long")
@RequiresEtcd
class EtcdPartitionTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static EtcdServer server;

	private final String key = "partition:" + UUID.randomUUID();

	private FaultProxy proxy;

	private EtcdNode near;

	private EtcdNode other;

	@BeforeAll
	static void start() {
		server = EtcdServer.start();
	}

	@AfterAll
	static void stop() {
		server.close();
	}

	@BeforeEach
	void open() throws Exception {
		this.proxy = new FaultProxy(server.port());
		this.near = new EtcdNode(List.of(server.endpoint(this.proxy.port())));
		this.other = new EtcdNode(List.of(server.endpoint()));
		connect();
	}

	@AfterEach
	void close() {
		this.proxy.inject(Fault.NONE);
		this.near.close();
		this.other.close();
		this.proxy.close();
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS", "HOLD_REPLIES" })
	@Tag("F20")
	@Tag("F23")
	void requestWithoutAnswerFailsAndIsGivenBack(Fault fault) throws Exception {
		this.proxy.inject(fault);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.near.backend().acquire(request(NO_WAIT)))
			.withMessageContaining("did not answer in time");
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
	}

	/**
	 * The entry is put, but nobody is told.
	 */
	@Test
	@Tag("F20")
	@Tag("F23")
	void grantWhoseAnswerIsLateIsGivenBack() throws Exception {
		CountDownLatch held = holdTheAnswerOnce(this::isHeld);
		FutureTask<@Nullable LockLease> acquisition = this.near.start(request(Duration.ofSeconds(2)));
		held.await();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(acquisition::get)
			.withCauseInstanceOf(LockBackendException.class);
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
	}

	@Test
	@Tag("F16")
	void interruptWhileTheRequestIsUnderWayLeavesNothing() throws Exception {
		CountDownLatch held = holdTheAnswerOnce(this::isHeld);
		FutureTask<@Nullable LockLease> acquisition = new FutureTask<>(
				() -> this.near.backend().acquire(request(PATIENCE)));
		Thread thread = new Thread(acquisition);
		thread.start();
		held.await();
		thread.interrupt();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(acquisition::get)
			.withCauseInstanceOf(InterruptedException.class);
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
	}

	/**
	 * The same entry again, with the revision at which it was put.
	 */
	@Test
	@Tag("F20")
	void requestWhoseAnswerWasLostGetsItsLockWithTheConnection() throws Exception {
		CountDownLatch held = holdTheAnswerOnce(this::isHeld);
		FutureTask<@Nullable LockLease> acquisition = this.near.start(request(PATIENCE));
		held.await();
		long revision = this.other.entries(this.key).get(0).getCreateRevision();
		this.proxy.inject(Fault.DROP_REPLIES);
		this.proxy.reset();
		this.proxy.inject(Fault.NONE);
		LockLease lease = acquisition.get();
		assertThat(lease).isNotNull();
		assertThat(this.other.entries(this.key)).singleElement()
			.satisfies((entry) -> assertThat(entry.getCreateRevision()).isEqualTo(revision));
		assertThat(EtcdNode.release(lease)).isTrue();
		awaitFreeForGood();
	}

	@Test
	@Tag("F79")
	void releaseThatFailedIsSentAgain() throws Exception {
		LockLease lease = this.near.acquired(EtcdRequests.request(this.key, NO_WAIT, Duration.ofMinutes(10)));
		this.proxy.inject(Fault.REFUSE);
		this.proxy.reset();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(lease.release().toCompletableFuture()::get)
			.withCauseInstanceOf(LockBackendException.class);
		this.proxy.inject(Fault.NONE);
		await().atMost(PATIENCE).until(() -> !isHeld());
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS", "HOLD_REPLIES" })
	@Tag("F20")
	void waiterThatIsCutOffFailsAndLeavesNothing(Fault fault) throws Exception {
		LockLease lease = this.other.acquired(request(NO_WAIT));
		FutureTask<@Nullable LockLease> waiter = this.near.start(request(Duration.ofSeconds(6)));
		await().until(() -> this.other.entries(this.key).size() == 2);
		this.proxy.inject(fault);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockBackendException.class);
		assertThat(EtcdNode.release(lease)).isTrue();
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
	}

	@Test
	@Tag("F20")
	void waiterGoesOnAfterAShortFailure() throws Exception {
		LockLease lease = this.other.acquired(request(NO_WAIT));
		FutureTask<@Nullable LockLease> waiter = this.near.start(request(PATIENCE));
		await().until(() -> this.other.entries(this.key).size() == 2);
		this.proxy.inject(Fault.REFUSE);
		this.proxy.reset();
		await().during(Duration.ofSeconds(2)).until(() -> !waiter.isDone());
		this.proxy.inject(Fault.NONE);
		assertThat(EtcdNode.release(lease)).isTrue();
		LockLease next = waiter.get();
		assertThat(next).isNotNull();
		assertThat(EtcdNode.release(next)).isTrue();
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS", "HOLD_REPLIES" })
	@Tag("F20")
	void holderThatIsCutOffKnowsItBeforeOthersGetTheLock(Fault fault) throws Exception {
		LockLease lease = this.near.acquired(EtcdRequests.request(this.key, NO_WAIT, Duration.ofSeconds(1)));
		this.proxy.inject(fault);
		FutureTask<Boolean> renewal = new FutureTask<>(() -> lease.renew(Duration.ofSeconds(1)));
		new Thread(renewal).start();
		LockLease successor = this.other.acquired(request(PATIENCE));
		assertThat(lease.isValid()).isFalse();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(renewal::get)
			.withCauseInstanceOf(LockBackendException.class);
		this.proxy.inject(Fault.NONE);
		connect();
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(successor.renew(PATIENCE)).isTrue();
		assertThat(EtcdNode.release(successor)).isTrue();
	}

	/**
	 * Which of two leases the key has is then not known, so the next renewal gives it a
	 * third one.
	 */
	@Test
	@Tag("F20")
	void changeOfTheLeaseTimeWhoseAnswerIsLostIsMadeGoodByTheNextRenewal() throws Exception {
		LockLease lease = this.near.acquired(request(NO_WAIT));
		long before = this.other.entries(this.key).get(0).getLease();
		CountDownLatch held = holdTheAnswerOnce(() -> this.other.entries(this.key).get(0).getLease() != before);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(Duration.ofSeconds(2)));
		held.await();
		assertThat(lease.isValid()).as("after the shorter time").isFalse();
		this.proxy.inject(Fault.NONE);
		connect();
		await().atMost(PATIENCE).until(() -> !isHeld());
		assertThat(lease.renew(PATIENCE)).isFalse();
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS", "HOLD_REPLIES" })
	@Tag("F20")
	void releaseThatIsCutOffFailsAndArrivesLater(Fault fault) throws Exception {
		LockLease lease = this.near.acquired(request(NO_WAIT));
		this.proxy.inject(fault);
		assertThatExceptionOfType(ExecutionException.class)
			.isThrownBy(() -> lease.release().toCompletableFuture().get())
			.withCauseInstanceOf(LockBackendException.class);
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
	}

	/**
	 * Lets requests pass until etcd has done something, and the answer of that one not be
	 * seen until the fault ends.
	 * @return reaches zero when the answer is held
	 */
	private CountDownLatch holdTheAnswerOnce(BooleanSupplier done) {
		CountDownLatch held = new CountDownLatch(1);
		this.proxy.beforeReply(() -> {
			if (held.getCount() > 0 && done.getAsBoolean()) {
				this.proxy.inject(Fault.HOLD_REPLIES);
				held.countDown();
			}
		});
		return held;
	}

	/**
	 * The connection is made at the first use, which must not meet the fault.
	 */
	private void connect() throws Exception {
		LockLease lease = await().atMost(PATIENCE)
			.ignoreException(LockBackendException.class)
			.until(() -> this.near.backend().acquire(EtcdRequests.request("connect:" + this.key, NO_WAIT)),
					(it) -> it != null);
		EtcdNode.release(lease);
	}

	private LockRequest request(Duration waitTime) {
		return EtcdRequests.request(this.key, waitTime);
	}

	private boolean isHeld() {
		return !this.other.entries(this.key).isEmpty();
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
