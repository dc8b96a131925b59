package io.github.holdfast.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.transaction.support.SimpleTransactionStatus;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.handover.HandoverLockBackend;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The network between a client and ZooKeeper fails at each step of a lock. Another client
 * sees what is left. Unless a test says otherwise, the session is still the same in the
 * end, so that it is not its end that has cleaned up.
 */
@Timeout(120)
class ZooKeeperPartitionTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private static final ZooKeeperServer server = ZooKeeperServer.start();

	private final FaultProxy proxy = new FaultProxy(server.port());

	private final CuratorFramework near = ZooKeeperServer.client(this.proxy.port());

	private final CuratorFramework far = server.client();

	private final ZooKeeperLockBackend backend = new ZooKeeperLockBackend(() -> this.near);

	private final ZooKeeperLockBackend other = new ZooKeeperLockBackend(() -> this.far);

	private final LockNodes nodes = new LockNodes(this.far);

	private final String key = "partition:" + UUID.randomUUID();

	@AfterAll
	static void stop() {
		server.close();
	}

	@AfterEach
	void close() {
		this.proxy.inject(Fault.NONE);
		this.near.close();
		this.far.close();
		this.proxy.close();
	}

	@Test
	@Tag("F20")
	@Tag("F23")
	void requestWithoutAnswerFailsAndIsGivenBack() throws Exception {
		assertGivenBack(Fault.HOLD_REPLIES);
	}

	@ParameterizedTest
	@EnumSource(names = { "BLACKHOLE", "HOLD_REQUESTS" })
	@Tag("F20")
	@Tag("long")
	void requestThatIsHeldBackFailsAndIsGivenBack(Fault fault) throws Exception {
		assertGivenBack(fault);
	}

	private void assertGivenBack(Fault fault) throws Exception {
		long session = connect();
		this.proxy.inject(fault);
		assertThatExceptionOfType(LockBackendException.class)
			.isThrownBy(() -> this.backend.acquire(ZooKeeperRequests.request(this.key, NO_WAIT)))
			.withMessageContaining("did not answer in time");
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
		assertThat(connect()).isEqualTo(session);
	}

	/**
	 * The node was created, and nobody has told its owner.
	 */
	@Test
	@Tag("F20")
	@Tag("F23")
	void nodeWhoseAnswerWasLostIsFoundAgain() throws Exception {
		long session = connect();
		this.proxy.inject(Fault.DROP_REPLIES);
		FutureTask<@Nullable LockLease> acquisition = start(
				() -> this.backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE)));
		await().until(this::isHeld);
		String node = this.nodes.queue(this.key).get(0);
		this.proxy.inject(Fault.NONE);
		this.proxy.reset();
		LockLease lease = acquisition.get();
		assertThat(lease).isNotNull();
		assertThat(this.nodes.queue(this.key)).containsExactly(node);
		assertThat(lease.renew(PATIENCE)).isTrue();
		assertThat(lease.release().toCompletableFuture().join()).isTrue();
		assertThat(connect()).isEqualTo(session);
		assertThat(isHeld()).isFalse();
	}

	@Test
	@Tag("F19")
	void connectionThatIsBackInTimeKeepsLocksAndPlaces() throws Exception {
		long session = connect();
		LockLease lease = acquired(this.backend);
		FutureTask<@Nullable LockLease> waiter = start(
				() -> this.backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE)));
		await().until(() -> this.nodes.queue(this.key).size() == 2);
		this.proxy.inject(Fault.REFUSE);
		this.proxy.reset();
		await().until(() -> !lease.isValid());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(Duration.ofMillis(3)));
		this.proxy.inject(Fault.NONE);
		await().atMost(PATIENCE).until(lease::isValid);
		assertThat(lease.renew(PATIENCE)).isTrue();
		assertThat(waiter).isNotDone();
		assertThat(lease.release().toCompletableFuture().join()).isTrue();
		LockLease next = waiter.get();
		assertThat(next).isNotNull();
		assertThat(next.release().toCompletableFuture().join()).isTrue();
		assertThat(connect()).isEqualTo(session);
	}

	@Test
	@Tag("F20")
	@Tag("long")
	void waiterThatIsCutOffFailsAndLeavesNothing() throws Exception {
		connect();
		LockLease lease = acquired(this.other);
		FutureTask<@Nullable LockLease> waiter = start(
				() -> this.backend.acquire(ZooKeeperRequests.request(this.key, Duration.ofSeconds(3))));
		await().until(() -> this.nodes.queue(this.key).size() == 2);
		this.proxy.inject(Fault.BLACKHOLE);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(waiter::get)
			.withCauseInstanceOf(LockBackendException.class);
		lease.release().toCompletableFuture().get();
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
	}

	@Test
	@Tag("F19")
	@Tag("F20")
	void holderThatIsCutOffKnowsItBeforeOthersGetTheLock() throws Exception {
		try (CuratorFramework shortLived = ZooKeeperServer.client("127.0.0.1:" + this.proxy.port(),
				Duration.ofSeconds(5))) {
			LockLease lease = acquired(new ZooKeeperLockBackend(() -> shortLived));
			this.proxy.inject(Fault.BLACKHOLE);
			LockLease successor = this.other.acquire(ZooKeeperRequests.request(this.key, PATIENCE));
			assertThat(lease.isValid()).isFalse();
			assertThat(successor).isNotNull();
			this.proxy.inject(Fault.NONE);
			await().atMost(PATIENCE)
				.ignoreExceptionsInstanceOf(LockBackendException.class)
				.until(() -> !lease.renew(PATIENCE));
			assertThat(lease.isValid()).isFalse();
			assertThat(lease.release().toCompletableFuture().join()).isFalse();
			assertThat(successor.renew(PATIENCE)).isTrue();
		}
	}

	/**
	 * apache/curator#1193: a release while the connection is lost forgets the node, which
	 * stays as long as the session does.
	 */
	@Test
	@Tag("F20")
	void releaseWhileTheConnectionIsLostIsDoneLater() throws Exception {
		long session = connect();
		LockLease lease = acquired(this.backend);
		this.proxy.inject(Fault.REFUSE);
		this.proxy.reset();
		await().until(() -> !lease.isValid());
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> lease.release().toCompletableFuture().join())
			.withCauseInstanceOf(LockBackendException.class);
		assertThat(isHeld()).isTrue();
		this.proxy.inject(Fault.NONE);
		awaitFreeForGood();
		assertThat(connect()).isEqualTo(session);
	}

	/**
	 * As if the same fault had hit the database with the commit: the transaction may
	 * still be committed when the connection is back.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	@Tag("F29")
	void lockOfAnUnknownOutcomeIsKeptAlthoughTheConnectionIsLost(boolean queued) throws Exception {
		long session = connect();
		LockBackend backend = queued ? new HandoverLockBackend(this.backend) : this.backend;
		try (LockTemplate locks = new LockTemplate(() -> backend, List::of)) {
			locks.withKeyPrefix("kept:").withLeaseTime(Duration.ofMinutes(5)).run(this.key, () -> {
				HeldLock lock = LockStack.current();
				this.proxy.inject(Fault.REFUSE);
				this.proxy.reset();
				await().until(() -> !lock.isValid());
				lock.outcomeUnknown(new SimpleTransactionStatus(), true);
			});
			this.proxy.inject(Fault.NONE);
			assertThat(connect()).isEqualTo(session);
			await().during(Duration.ofSeconds(2))
				.atMost(PATIENCE)
				.until(() -> this.nodes.queue("kept:" + this.key).size() == 1);
		}
	}

	@Test
	@Tag("F20")
	@Tag("long")
	void releaseWhoseAnswerIsLostIsNoLoss() throws Exception {
		LockLease lease = acquired(this.backend);
		this.proxy.inject(Fault.HOLD_REPLIES);
		assertThatExceptionOfType(CompletionException.class)
			.isThrownBy(() -> lease.release().toCompletableFuture().join())
			.withCauseInstanceOf(LockBackendException.class);
		awaitFreeForGood();
	}

	/**
	 * Only the first of them asks ZooKeeper.
	 */
	@Test
	@Tag("F20")
	void localWaitersAreNotToldThatTheLockIsBusyWhenTheFirstOfThemHasFailed() throws Exception {
		connect();
		HandoverLockBackend queue = new HandoverLockBackend(this.backend);
		CountDownLatch done = new CountDownLatch(1);
		try (LockTemplate locks = new LockTemplate(() -> queue, List::of)) {
			LockTemplate single = locks.withWaitTime(NO_WAIT);
			this.proxy.inject(Fault.REFUSE);
			this.proxy.reset();
			await().until(() -> !this.near.getZookeeperClient().isConnected());
			FutureTask<?> first = waiting(() -> locks.withWaitTime(Duration.ofSeconds(5)).run(this.key, () -> {
			}));
			FutureTask<?> next = waiting(() -> locks.withWaitTime(PATIENCE).run(this.key, () -> hold(done)));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(first::get)
				.withCauseInstanceOf(LockBackendException.class);
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> single.run(this.key, () -> {
			})).withMessageContaining("another thread").withCauseInstanceOf(LockBackendException.class);
			this.proxy.inject(Fault.NONE);
			await().atMost(PATIENCE).until(() -> !this.nodes.queue("lock:" + this.key).isEmpty());
			await().untilAsserted(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> single.run(this.key, () -> {
				})));
			done.countDown();
			next.get();
		}
	}

	/**
	 * Starts something, and returns when it waits.
	 */
	private static FutureTask<?> waiting(Runnable call) {
		FutureTask<?> task = new FutureTask<>(call, null);
		Thread thread = new Thread(task);
		thread.start();
		await().until(() -> thread.getState() == Thread.State.TIMED_WAITING);
		return task;
	}

	private static void hold(CountDownLatch latch) {
		try {
			latch.await();
		}
		catch (InterruptedException ex) {
			throw new IllegalStateException(ex);
		}
	}

	@Test
	@Tag("F16")
	void interruptWhileTheRequestIsUnderWayLeavesNothing() throws Exception {
		long session = connect();
		this.proxy.inject(Fault.HOLD_REPLIES);
		FutureTask<@Nullable LockLease> acquisition = new FutureTask<>(
				() -> this.backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE)));
		Thread thread = new Thread(acquisition);
		thread.start();
		await().until(this::isHeld);
		thread.interrupt();
		this.proxy.inject(Fault.NONE);
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(acquisition::get)
			.withCauseInstanceOf(InterruptedException.class);
		await().until(() -> !isHeld());
		assertThat(connect()).isEqualTo(session);
	}

	/**
	 * The connection is made at the first use, which must not meet the fault, and neither
	 * must the creation of the queue.
	 * @return the id of the session
	 */
	private long connect() throws Exception {
		LockLease lease = this.backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE));
		assertThat(lease).isNotNull();
		lease.release().toCompletableFuture().get();
		return this.near.getZookeeperClient().getZooKeeper().getSessionId();
	}

	private LockLease acquired(ZooKeeperLockBackend backend) throws InterruptedException {
		LockLease lease = backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE));
		assertThat(lease).isNotNull();
		return lease;
	}

	private <T extends @Nullable Object> FutureTask<T> start(Callable<T> call) {
		FutureTask<T> task = new FutureTask<>(call);
		new Thread(task).start();
		return task;
	}

	private boolean isHeld() {
		return !this.nodes.queue(this.key).isEmpty();
	}

	/**
	 * Then nothing that is still on its way takes the lock.
	 */
	private void awaitFreeForGood() {
		await().atMost(PATIENCE).until(() -> !isHeld());
		await().during(Duration.ofMillis(300)).atMost(PATIENCE).until(() -> !isHeld());
	}

}
