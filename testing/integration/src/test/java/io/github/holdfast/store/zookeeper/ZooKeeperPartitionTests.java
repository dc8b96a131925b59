package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletionException;
import java.util.concurrent.FutureTask;

import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.PartitionContractTests;
import io.github.holdfast.testsupport.TestLease;
import io.github.holdfast.testsupport.TestStore;
import io.github.holdfast.testsupport.Threads;
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

	@AutoClose
	private static final ZooKeeperServer server = ZooKeeperServer.start();

	private ZooKeeperStore zooKeeper;

	@Override
	protected TestStore<?> open() {
		this.zooKeeper = new ZooKeeperStore(server);
		return this.zooKeeper;
	}

	/** The node was created, and nobody has told its owner. */
	@Test
	void nodeWhoseAnswerWasLostIsFoundAgain() throws Exception {
		proxy().inject(Fault.DROP_REPLIES);
		FutureTask<@Nullable TestLease> acquisition = Threads
			.start(() -> TestLease.acquire(store().near(), request(PATIENCE)));
		await().until(this::isHeld);
		String node = this.zooKeeper.nodes().queue(this.key).get(0);
		proxy().inject(Fault.NONE);
		proxy().reset();
		TestLease lease = acquisition.get();
		assertThat(lease).isNotNull();
		assertThat(this.zooKeeper.nodes().queue(this.key)).containsExactly(node);
		assertThat(lease.renew(PATIENCE)).isTrue();
		assertThat(release(lease).join()).isTrue();
		assertSameSession();
		assertThat(isHeld()).isFalse();
	}

	@Test
	void connectionThatIsBackInTimeKeepsLocksAndPlaces() throws Exception {
		TestLease lease = acquired(store().near());
		FutureTask<@Nullable TestLease> waiter = Threads
			.start(() -> TestLease.acquire(store().near(), request(PATIENCE)));
		await().until(() -> this.zooKeeper.nodes().queue(this.key).size() == 2);
		proxy().inject(Fault.REFUSE);
		proxy().reset();
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(PATIENCE));
		proxy().inject(Fault.NONE);
		await().atMost(PATIENCE).until(lease::isValid);
		assertThat(lease.renew(PATIENCE)).isTrue();
		assertThat(waiter).isNotDone();
		assertThat(release(lease).join()).isTrue();
		TestLease next = waiter.get();
		assertThat(next).isNotNull();
		assertThat(release(next).join()).isTrue();
		assertSameSession();
	}

	@Test
	void holderThatIsCutOffKnowsItBeforeOthersGetTheLock() throws Exception {
		try (CuratorFramework shortLived = ZooKeeperServer.client("127.0.0.1:" + proxy().port(),
				Duration.ofSeconds(5))) {
			TestLease lease = acquired(new ZooKeeperLockBackend(() -> shortLived));
			proxy().inject(Fault.BLACKHOLE);
			TestLease successor = TestLease.acquire(store().far(), request(PATIENCE));
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

	/** apache/curator#1193: a release while the connection is lost forgets the node. */
	@Test
	void releaseWhileTheConnectionIsLostIsDoneLater() throws Exception {
		TestLease lease = acquired(store().near());
		proxy().inject(Fault.REFUSE);
		proxy().reset();
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> release(lease).join())
			.withCauseInstanceOf(LockBackendException.class);
		assertThat(isHeld()).isTrue();
		proxy().inject(Fault.NONE);
		// Without another release
		awaitFreeForGood();
	}

}
