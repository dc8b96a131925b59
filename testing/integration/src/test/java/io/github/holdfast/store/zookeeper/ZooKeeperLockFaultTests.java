package io.github.holdfast.store.zookeeper;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooDefs;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.LockFaultContractTests;
import io.github.holdfast.testsupport.TestLease;
import io.github.holdfast.testsupport.TestStore;
import io.github.holdfast.testsupport.Threads;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** Faults of ZooKeeper, of its data or of a session, some known from Curator's locks. */
class ZooKeeperLockFaultTests extends LockFaultContractTests {

	/** Longer than what a test may take: its end is not what frees a lock. */
	private static final Duration LONG_SESSION = Duration.ofSeconds(10);

	@AutoClose
	private static final ZooKeeperServer server = ZooKeeperServer.start();

	@AutoClose
	private final CuratorFramework near = ZooKeeperServer.client("127.0.0.1:" + server.port(), LONG_SESSION);

	@AutoClose
	private final CuratorFramework far = server.client();

	private final ZooKeeperLockBackend backend = new ZooKeeperLockBackend(() -> this.near);

	private final ZooKeeperLockBackend other = new ZooKeeperLockBackend(() -> this.far);

	private final LockNodes nodes = new LockNodes(this.far);

	@Override
	protected TestStore<?> open() {
		return new ZooKeeperStore(server);
	}

	@Test
	void leaseIsLostAtOnceWhenItsSessionExpires() throws Exception {
		TestLease lease = acquired(this.backend);
		ZooKeeperServer.expireSession(this.near);
		assertThat(lease.isValid()).isFalse();
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(released(lease)).isFalse();
	}

	/** apache/curator#1121: a client takes its node of the session before for its own. */
	@Test
	void nodeOfAnEarlierSessionIsNeverTakenForAnOwnOne() throws Exception {
		TestLease lease = acquired(this.backend);
		List<String> dying = this.nodes.queue(this.key);
		// Only the client ends it; the server does so when its time is over
		long before = session(this.near);
		ZooKeeperServer.expireSession(this.near);
		await().until(() -> this.near.getZookeeperClient().isConnected() && session(this.near) != before);
		assertThat(TestLease.acquire(this.backend, Requests.request(this.key, NO_WAIT))).isNull();
		assertThat(this.nodes.queue(this.key)).isEqualTo(dying);
		TestLease next = TestLease.acquire(this.backend, Requests.request(this.key, PATIENCE));
		assertThat(next).isNotNull();
		assertThat(this.nodes.queue(this.key)).hasSize(1).doesNotContainAnyElementsOf(dying);
		assertThat(lease.isValid()).isFalse();
		assertThat(next.isValid()).isTrue();
		assertThat(next.epoch()).isGreaterThan(lease.epoch());
		assertThat(released(lease)).isFalse();
		assertThat(released(next)).isTrue();
	}

	/** Its session lives on, so that it would keep the lock from everybody. */
	@Test
	void releaseThatIsRefusedFailsAndMayBeRepeated() throws Exception {
		TestLease lease = acquired(this.backend);
		long session = session(this.near);
		String queue = this.nodes.path(this.key);
		this.far.setACL()
			.withACL(List.of(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
			.forPath(queue);
		assertThatExceptionOfType(CompletionException.class).isThrownBy(() -> released(lease))
			.withCauseInstanceOf(LockBackendException.class);
		assertThat(this.nodes.queue(this.key)).hasSize(1);
		this.far.setACL().withACL(ZooDefs.Ids.OPEN_ACL_UNSAFE).forPath(queue);
		assertThat(released(lease)).isTrue();
		assertThat(this.nodes.queue(this.key)).isEmpty();
		assertThat(session(this.near)).as("the session lives on").isEqualTo(session);
	}

	@Test
	void waiterWhoseSessionExpiresQueuesAgain() throws Exception {
		try (CuratorFramework shortLived = ZooKeeperServer.client("127.0.0.1:" + server.port(),
				Duration.ofSeconds(5))) {
			TestLease lease = acquired(this.other);
			FutureTask<@Nullable TestLease> waiter = waiter(new ZooKeeperLockBackend(() -> shortLived));
			List<String> before = this.nodes.queue(this.key);
			ZooKeeperServer.expireSession(shortLived);
			await().atMost(PATIENCE).until(() -> !before.containsAll(this.nodes.queue(this.key)));
			assertThat(released(lease)).isTrue();
			assertThat(waiter.get()).isNotNull();
			await().atMost(PATIENCE).until(() -> waiter.get().isValid());
		}
	}

	@Test
	@Tag("long")
	void sessionIsKeptProvenWhileALockIsHeld() throws Exception {
		try (CuratorFramework shortLived = ZooKeeperServer.client("127.0.0.1:" + server.port(),
				Duration.ofSeconds(5))) {
			TestLease lease = acquired(new ZooKeeperLockBackend(() -> shortLived));
			await().during(Duration.ofSeconds(6)).atMost(PATIENCE).until(lease::isValid);
		}
	}

	/** As in a paused process: no event has arrived, and the lease is short. */
	@Test
	@Tag("long")
	void leaseWithoutAProofInTimeIsNotAliveThoughNoEventArrives() throws Exception {
		try (CuratorFramework shortLived = ZooKeeperServer.client("127.0.0.1:" + server.port(),
				Duration.ofSeconds(5))) {
			LockBackend.Lease lease = new ZooKeeperLockBackend(() -> shortLived)
				.acquire(request(NO_WAIT, Duration.ofSeconds(5)));
			assertThat(lease).isNotNull();
			assertThat(lease.isAlive()).isTrue();
			await().atMost(PATIENCE).until(() -> !lease.isAlive());
			assertThat(shortLived.getZookeeperClient().isConnected()).isTrue();
			assertThat(lease.renew(PATIENCE).toCompletableFuture().join()).isTrue();
			assertThat(lease.isAlive()).isTrue();
		}
	}

	@Test
	void lockOutlivesARestartOfTheServer() throws Exception {
		TestLease lease = acquired(this.backend);
		FutureTask<@Nullable TestLease> waiter = waiter(this.other);
		server.stop();
		assertThatExceptionOfType(LockBackendException.class).as("not 'busy'")
			.isThrownBy(() -> TestLease.acquire(this.backend, Requests.request(this.key, NO_WAIT)));
		server.restart();
		assertThat(await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockBackendException.class)
			.until(() -> lease.renew(PATIENCE), (renewed) -> true)).isTrue();
		assertThat(lease.isValid()).isTrue();
		assertThat(waiter).isNotDone();
		assertThat(released(lease)).isTrue();
		assertThat(waiter.get()).isNotNull();
		assertThat(waiter.get().epoch()).isGreaterThan(lease.epoch());
	}

	@Test
	void waiterWhoseNodeWasDeletedQueuesAgain() throws Exception {
		TestLease lease = acquired(this.backend);
		List<String> held = this.nodes.queue(this.key);
		FutureTask<@Nullable TestLease> waiter = waiter(this.other);
		List<String> waiting = new ArrayList<>(this.nodes.queue(this.key));
		waiting.removeAll(held);
		this.nodes.delete(this.nodes.path(this.key) + '/' + waiting.get(0));
		assertThat(released(lease)).isTrue();
		assertThat(waiter.get()).isNotNull();
		assertThat(waiter.get().renew(PATIENCE)).isTrue();
	}

	@Test
	void lockIsTakenAgainWhenAllNodesWereDeleted() throws Exception {
		TestLease lease = acquired(this.backend);
		this.nodes.delete("/holdfast");
		TestLease next = TestLease.acquire(this.backend, Requests.request(this.key, PATIENCE));
		assertThat(next).isNotNull();
		assertThat(next.epoch()).isGreaterThan(lease.epoch());
		assertThat(lease.renew(PATIENCE)).isFalse();
	}

	@Test
	void foreignNodesInAQueueAreIgnored() throws Exception {
		assertThat(released(acquired(this.backend))).isTrue();
		this.far.create().creatingParentsIfNeeded().forPath(this.nodes.path(this.key) + "/0");
		this.far.create().forPath(this.nodes.path(this.key) + "/exclusive-x_y");
		assertThat(released(acquired(this.backend))).isTrue();
	}

	@Test
	@Tag("long")
	void waitersWhoGiveUpLeaveNoNodeAndNoWatch() throws Exception {
		acquired(this.other);
		try (CuratorFramework watching = CuratorFrameworkFactory.builder()
			.connectString("127.0.0.1:" + server.port())
			.retryPolicy(new RetryOneTime(1))
			.zookeeperFactory((address, timeout, watcher, readOnly) -> new Watches(address, timeout, watcher))
			.build()) {
			watching.start();
			watching.blockUntilConnected();
			ZooKeeperLockBackend backend = new ZooKeeperLockBackend(() -> watching);
			Watches watches = (Watches) watching.getZookeeperClient().getZooKeeper();
			for (int i = 0; i < 20; i++) {
				assertThat(TestLease.acquire(backend, Requests.request(this.key, Duration.ofMillis(i)))).isNull();
				assertThat(this.nodes.queue(this.key)).hasSize(1);
			}
			FutureTask<@Nullable TestLease> waiter = Threads
				.start(() -> TestLease.acquire(backend, Requests.request(this.key, Duration.ofSeconds(4))));
			await().until(() -> !watches.ofLocks().isEmpty());
			assertThat(waiter.get()).isNull();
			await().until(() -> watches.ofLocks().isEmpty());
		}
	}

	@Test
	@Tag("long")
	void thousandKeysLeaveNoNodes() throws Exception {
		try (ZooKeeperServer server = ZooKeeperServer.startWithContainerCheck(Duration.ofMillis(500));
				CuratorFramework client = server.client()) {
			ZooKeeperLockBackend backend = new ZooKeeperLockBackend(() -> client);
			LockNodes nodes = new LockNodes(client);
			TestLease held = acquired(backend);
			for (int i = 0; i < 1000; i++) {
				TestLease lease = TestLease.acquire(backend, Requests.request("many:" + i, PATIENCE));
				assertThat(lease).isNotNull();
				assertThat(released(lease)).isTrue();
			}
			await().atMost(PATIENCE).until(() -> nodes.locks().size() == 1);
			assertThat(nodes.queue(this.key)).hasSize(1);
			assertThat(released(held)).isTrue();
			await().atMost(PATIENCE).until(() -> nodes.locks().isEmpty());
		}
	}

	@Test
	void waitersOfAllNodesAreServedInTheOrderOfTheirArrival() throws Exception {
		TestLease lease = acquired(this.other);
		List<FutureTask<@Nullable TestLease>> waiters = new ArrayList<>();
		for (int i = 0; i < 6; i++) {
			waiters.add(waiter((i % 3 == 0) ? this.other : this.backend));
		}
		for (int i = 0; i < waiters.size(); i++) {
			assertThat(waiters.subList(i, waiters.size())).noneMatch(FutureTask::isDone);
			assertThat(released(lease)).isTrue();
			lease = waiters.get(i).get();
			assertThat(lease).isNotNull();
		}
	}

	@Test
	void waiterWhoseClientHasGoneIsPassedOver() throws Exception {
		TestLease lease = acquired(this.other);
		FutureTask<@Nullable TestLease> gone = waiter(this.backend);
		FutureTask<@Nullable TestLease> next = waiter(this.other);
		this.near.close();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(gone::get);
		assertThat(next).isNotDone();
		assertThat(released(lease)).isTrue();
		assertThat(next.get()).isNotNull();
	}

	private static long session(CuratorFramework client) throws Exception {
		return client.getZookeeperClient().getZooKeeper().getSessionId();
	}

	private static boolean released(TestLease lease) {
		return lease.release().join();
	}

	/** Starts to wait, and returns when the wait has begun. */
	private FutureTask<@Nullable TestLease> waiter(ZooKeeperLockBackend backend) {
		return this.nodes.waiter(backend, Requests.request(this.key, PATIENCE));
	}

	/** A client that tells what it watches. */
	@SuppressWarnings("try")
	private static final class Watches extends ZooKeeper {

		private Watches(String address, int timeout, Watcher watcher) throws IOException {
			super(address, timeout, watcher);
		}

		/** Not those of Curator on the list of servers. */
		private List<String> ofLocks() {
			return getDataWatches().stream().filter((path) -> path.startsWith("/holdfast/locks")).toList();
		}

	}

}
