package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.transaction.support.SimpleTransactionStatus;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.HeldLock;
import io.github.holdfast.core.LockStack;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.PartitionContractTests;
import io.github.holdfast.testsupport.TestStore;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * The network between a client and ZooKeeper fails at each step of a lock. Another client
 * sees what is left. Unless a test says otherwise, the session is still the same in the
 * end, so that it is not its end that has cleaned up.
 */
@Tag("long")
class ZooKeeperPartitionTests extends PartitionContractTests {

	private static final ZooKeeperServer server = ZooKeeperServer.start();

	private ZooKeeperStore zooKeeper;

	@AfterAll
	static void stop() {
		server.close();
	}

	@Override
	protected TestStore open() {
		this.zooKeeper = new ZooKeeperStore(server);
		return this.zooKeeper;
	}

	/**
	 * The node was created, and nobody has told its owner.
	 */
	@Test
	@Tag("F20")
	@Tag("F23")
	void nodeWhoseAnswerWasLostIsFoundAgain() throws Exception {
		proxy().inject(Fault.DROP_REPLIES);
		FutureTask<@Nullable LockLease> acquisition = start(() -> store().near().acquire(request(PATIENCE)));
		await().until(this::isHeld);
		String node = this.zooKeeper.nodes().queue(this.key).get(0);
		proxy().inject(Fault.NONE);
		proxy().reset();
		LockLease lease = acquisition.get();
		assertThat(lease).isNotNull();
		assertThat(this.zooKeeper.nodes().queue(this.key)).containsExactly(node);
		assertThat(lease.renew(PATIENCE)).isTrue();
		assertThat(release(lease).join()).isTrue();
		assertSameSession();
		assertThat(isHeld()).isFalse();
	}

	@Test
	@Tag("F19")
	void connectionThatIsBackInTimeKeepsLocksAndPlaces() throws Exception {
		LockLease lease = acquired(store().near());
		FutureTask<@Nullable LockLease> waiter = start(() -> store().near().acquire(request(PATIENCE)));
		await().until(() -> this.zooKeeper.nodes().queue(this.key).size() == 2);
		proxy().inject(Fault.REFUSE);
		proxy().reset();
		await().until(() -> !lease.isValid());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(PATIENCE));
		proxy().inject(Fault.NONE);
		await().atMost(PATIENCE).until(lease::isValid);
		assertThat(lease.renew(PATIENCE)).isTrue();
		assertThat(waiter).isNotDone();
		assertThat(release(lease).join()).isTrue();
		LockLease next = waiter.get();
		assertThat(next).isNotNull();
		assertThat(release(next).join()).isTrue();
		assertSameSession();
	}

	@Test
	@Tag("F19")
	@Tag("F20")
	void holderThatIsCutOffKnowsItBeforeOthersGetTheLock() throws Exception {
		try (CuratorFramework shortLived = ZooKeeperServer.client("127.0.0.1:" + proxy().port(),
				Duration.ofSeconds(5))) {
			LockLease lease = acquired(new ZooKeeperLockBackend(() -> shortLived));
			proxy().inject(Fault.BLACKHOLE);
			LockLease successor = store().far().acquire(request(PATIENCE));
			assertThat(lease.isValid()).isFalse();
			assertThat(successor).isNotNull();
			proxy().inject(Fault.NONE);
			await().atMost(PATIENCE)
				.ignoreExceptionsInstanceOf(LockBackendException.class)
				.until(() -> !lease.renew(PATIENCE));
			assertThat(lease.isValid()).isFalse();
			assertThat(release(lease).join()).isFalse();
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
		LockLease lease = acquired(store().near());
		proxy().inject(Fault.REFUSE);
		proxy().reset();
		await().until(() -> !lease.isValid());
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> release(lease).join())
			.withCauseInstanceOf(LockBackendException.class);
		assertThat(isHeld()).isTrue();
		proxy().inject(Fault.NONE);
		awaitFreeForGood();
	}

	/**
	 * As if the same fault had hit the database with the commit: the transaction may
	 * still be committed when the connection is back.
	 */
	@ParameterizedTest
	@ValueSource(booleans = { false, true })
	@Tag("F29")
	void lockOfAnUnknownOutcomeIsKeptAlthoughTheConnectionIsLost(boolean queued) throws Exception {
		LockBackend backend = queued ? new HandoverLockBackend(store().near()) : store().near();
		LockTemplate locks = new LockTemplate(() -> backend, List::of);
		try {
			locks.withKeyPrefix("kept:").withLeaseTime(Duration.ofMinutes(5)).run(this.key, () -> {
				HeldLock lock = LockStack.current();
				proxy().inject(Fault.REFUSE);
				proxy().reset();
				await().until(() -> !lock.isValid());
				lock.commits().outcomeUnknown(new SimpleTransactionStatus(), true);
			});
			proxy().inject(Fault.NONE);
			assertSameSession();
			await().during(Duration.ofSeconds(2))
				.atMost(PATIENCE)
				.until(() -> this.zooKeeper.nodes().queue("kept:" + this.key).size() == 1);
		}
		finally {
			TemplateAccess.close(locks);
		}
	}

	/**
	 * Only the first of them asks ZooKeeper.
	 */
	@Test
	@Tag("F20")
	void localWaitersAreNotToldThatTheLockIsBusyWhenTheFirstOfThemHasFailed() throws Exception {
		HandoverLockBackend queue = new HandoverLockBackend(store().near());
		CountDownLatch done = new CountDownLatch(1);
		LockTemplate locks = new LockTemplate(() -> queue, List::of);
		try {
			LockTemplate single = locks.withWaitTime(NO_WAIT);
			proxy().inject(Fault.REFUSE);
			proxy().reset();
			await().until(() -> !this.zooKeeper.client().getZookeeperClient().isConnected());
			FutureTask<?> first = waiting(() -> locks.withWaitTime(Duration.ofSeconds(5)).run(this.key, () -> {
			}));
			FutureTask<?> next = waiting(() -> locks.withWaitTime(PATIENCE).run(this.key, () -> hold(done)));
			assertThatExceptionOfType(ExecutionException.class).isThrownBy(first::get)
				.withCauseInstanceOf(LockBackendException.class);
			assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> single.run(this.key, () -> {
			})).withMessageContaining("another thread").withCauseInstanceOf(LockBackendException.class);
			proxy().inject(Fault.NONE);
			await().atMost(PATIENCE).until(() -> !this.zooKeeper.nodes().queue("lock:" + this.key).isEmpty());
			await().untilAsserted(() -> assertThatExceptionOfType(LockNotAcquiredException.class)
				.isThrownBy(() -> single.run(this.key, () -> {
				})));
			done.countDown();
			next.get();
		}
		finally {
			TemplateAccess.close(locks);
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

}
