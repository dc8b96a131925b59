package io.github.holdfast.store.zookeeper;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.testsupport.LockFaultContractTests;
import io.github.holdfast.testsupport.TestStore;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

/**
 * What happens to locks when something is wrong with ZooKeeper, with its data or with a
 * session. Named tests are about what Curator's own locks are known for.
 */
class ZooKeeperLockFaultTests extends LockFaultContractTests {

	/** Longer than what a test may take: its end is not what frees a lock. */
	private static final Duration LONG_SESSION = Duration.ofSeconds(10);

	private static final ZooKeeperServer server = ZooKeeperServer.start();

	private final CuratorFramework near = ZooKeeperServer.client("127.0.0.1:" + server.port(), LONG_SESSION);

	private final CuratorFramework far = server.client();

	private final ZooKeeperLockBackend backend = new ZooKeeperLockBackend(() -> this.near);

	private final ZooKeeperLockBackend other = new ZooKeeperLockBackend(() -> this.far);

	private final LockNodes nodes = new LockNodes(this.far);

	@AfterAll
	static void stop() {
		server.close();
	}

	@Override
	protected TestStore open() {
		return new ZooKeeperStore(server);
	}

	@AfterEach
	void close() {
		this.near.close();
		this.far.close();
	}

	// Sessions

	@Test
	@Tag("F19")
	void leaseIsLostAtOnceWhenItsSessionExpires() throws Exception {
		LockLease lease = acquired(this.backend);
		ZooKeeperServer.expireSession(this.near);
		assertThat(lease.isValid()).isFalse();
		assertThat(lease.renew(PATIENCE)).isFalse();
		assertThat(released(lease)).isFalse();
	}

	/**
	 * apache/curator#1121: after a reconnect a client finds its node of the session
	 * before, takes it for its own, and holds the lock until the server deletes it.
	 */
	@Test
	@Tag("F19")
	void nodeOfAnEarlierSessionIsNeverTakenForAnOwnOne() throws Exception {
		LockLease lease = acquired(this.backend);
		List<String> dying = this.nodes.queue(this.key);
		// Only the client ends it; the server does so when its time is over
		long before = session(this.near);
		ZooKeeperServer.expireSession(this.near);
		await().until(() -> this.near.getZookeeperClient().isConnected() && session(this.near) != before);
		assertThat(this.backend.acquire(ZooKeeperRequests.request(this.key, NO_WAIT))).isNull();
		assertThat(this.nodes.queue(this.key)).isEqualTo(dying);
		LockLease next = this.backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE));
		assertThat(next).isNotNull();
		assertThat(this.nodes.queue(this.key)).hasSize(1).doesNotContainAnyElementsOf(dying);
		assertThat(lease.isValid()).isFalse();
		assertThat(next.isValid()).isTrue();
		assertThat(next.epoch()).isGreaterThan(lease.epoch());
		assertThat(released(lease)).isFalse();
		assertThat(released(next)).isTrue();
	}

	/**
	 * Its session lives on, so that it would keep the lock from everybody.
	 */
	@Test
	void nodeWhoseDeletionIsRefusedIsDeletedLater() throws Exception {
		LockLease lease = acquired(this.backend);
		long session = session(this.near);
		String queue = this.nodes.path(this.key);
		this.far.setACL()
			.withACL(List.of(new ACL(ZooDefs.Perms.ALL & ~ZooDefs.Perms.DELETE, ZooDefs.Ids.ANYONE_ID_UNSAFE)))
			.forPath(queue);
		assertThat(catchThrowable(() -> released(lease))).isNotNull();
		assertThat(this.nodes.queue(this.key)).hasSize(1);
		this.far.setACL().withACL(ZooDefs.Ids.OPEN_ACL_UNSAFE).forPath(queue);
		await().atMost(PATIENCE).until(() -> this.nodes.queue(this.key).isEmpty());
		assertThat(session(this.near)).as("the session lives on").isEqualTo(session);
	}

	@Test
	@Tag("F19")
	void waiterWhoseSessionExpiresQueuesAgain() throws Exception {
		try (CuratorFramework shortLived = ZooKeeperServer.client("127.0.0.1:" + server.port(),
				Duration.ofSeconds(5))) {
			LockLease lease = acquired(this.other);
			FutureTask<@Nullable LockLease> waiter = waiter(new ZooKeeperLockBackend(() -> shortLived));
			List<String> before = this.nodes.queue(this.key);
			ZooKeeperServer.expireSession(shortLived);
			await().atMost(PATIENCE).until(() -> !before.containsAll(this.nodes.queue(this.key)));
			assertThat(released(lease)).isTrue();
			assertThat(waiter.get()).isNotNull();
			await().atMost(PATIENCE).until(() -> waiter.get().isValid());
		}
	}

	@Test
	@Tag("F24")
	void sessionIsKeptProvenWhileALockIsHeld() throws Exception {
		try (CuratorFramework shortLived = ZooKeeperServer.client("127.0.0.1:" + server.port(),
				Duration.ofSeconds(5))) {
			LockLease lease = acquired(new ZooKeeperLockBackend(() -> shortLived));
			await().during(Duration.ofSeconds(6)).atMost(PATIENCE).until(lease::isValid);
		}
	}

	/**
	 * As a process that was paused would find it: no event has told it anything, and the
	 * client still believes that it is connected.
	 */
	@Test
	@Tag("F13")
	void sessionWithoutAProofInTimeIsNotValidThoughNoEventTellsSo() throws Exception {
		try (CuratorFramework shortLived = ZooKeeperServer.client("127.0.0.1:" + server.port(),
				Duration.ofSeconds(5))) {
			acquired(new ZooKeeperLockBackend(() -> shortLived));
			LockSession session = new LockSession(shortLived.getZookeeperClient().getZooKeeper(),
					new LockPaths(LockPaths.LOCKS), List.of());
			assertThat(session.isProven()).isFalse();
			session.check(LockPaths.LOCKS).get();
			assertThat(session.isProven()).isTrue();
			await().atMost(PATIENCE).until(() -> !session.isProven());
			assertThat(session.isConnected()).isTrue();
			session.check(LockPaths.LOCKS).get();
			assertThat(session.isProven()).isTrue();
		}
	}

	@Test
	@Tag("F17")
	void lockOutlivesARestartOfTheServer() throws Exception {
		LockLease lease = acquired(this.backend);
		FutureTask<@Nullable LockLease> waiter = waiter(this.other);
		server.stop();
		await().atMost(PATIENCE).until(() -> !lease.isValid());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(PATIENCE));
		assertThatExceptionOfType(LockBackendException.class).as("not 'busy'")
			.isThrownBy(() -> this.backend.acquire(ZooKeeperRequests.request(this.key, NO_WAIT)))
			.withMessageContaining("the connection to ZooKeeper was lost");
		server.restart();
		await().atMost(PATIENCE).until(lease::isValid);
		assertThat(lease.renew(PATIENCE)).isTrue();
		assertThat(waiter).isNotDone();
		assertThat(released(lease)).isTrue();
		assertThat(waiter.get()).isNotNull();
		assertThat(waiter.get().epoch()).isGreaterThan(lease.epoch());
	}

	// Data

	@Test
	@Tag("F33")
	void waiterWhoseNodeWasDeletedQueuesAgain() throws Exception {
		LockLease lease = acquired(this.backend);
		List<String> held = this.nodes.queue(this.key);
		FutureTask<@Nullable LockLease> waiter = waiter(this.other);
		List<String> waiting = new ArrayList<>(this.nodes.queue(this.key));
		waiting.removeAll(held);
		this.nodes.delete(this.nodes.path(this.key) + '/' + waiting.get(0));
		assertThat(released(lease)).isTrue();
		assertThat(waiter.get()).isNotNull();
		assertThat(waiter.get().renew(PATIENCE)).isTrue();
	}

	@Test
	@Tag("F33")
	void lockIsTakenAgainWhenAllNodesWereDeleted() throws Exception {
		LockLease lease = acquired(this.backend);
		this.nodes.delete("/holdfast");
		LockLease next = this.backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE));
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

	// What is left

	@Test
	@Tag("F22")
	@Tag("F23")
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
				assertThat(backend.acquire(ZooKeeperRequests.request(this.key, Duration.ofMillis(i)))).isNull();
				assertThat(this.nodes.queue(this.key)).hasSize(1);
			}
			FutureTask<@Nullable LockLease> waiter = start(
					() -> backend.acquire(ZooKeeperRequests.request(this.key, Duration.ofSeconds(4))));
			await().until(() -> !watches.ofLocks().isEmpty());
			assertThat(waiter.get()).isNull();
			await().until(() -> watches.ofLocks().isEmpty());
		}
	}

	@Test
	void thousandKeysLeaveNoNodes() throws Exception {
		try (ZooKeeperServer server = ZooKeeperServer.startWithContainerCheck(Duration.ofMillis(500));
				CuratorFramework client = server.client()) {
			ZooKeeperLockBackend backend = new ZooKeeperLockBackend(() -> client);
			LockNodes nodes = new LockNodes(client);
			LockLease held = acquired(backend);
			for (int i = 0; i < 1000; i++) {
				LockLease lease = backend.acquire(ZooKeeperRequests.request("many:" + i, PATIENCE));
				assertThat(lease).isNotNull();
				assertThat(released(lease)).isTrue();
			}
			await().atMost(PATIENCE).until(() -> nodes.locks().size() == 1);
			assertThat(nodes.queue(this.key)).hasSize(1);
			assertThat(released(held)).isTrue();
			await().atMost(PATIENCE).until(() -> nodes.locks().isEmpty());
		}
	}

	// Order

	@Test
	@Tag("F22")
	void waitersOfAllNodesAreServedInTheOrderOfTheirArrival() throws Exception {
		LockLease lease = acquired(this.other);
		List<FutureTask<@Nullable LockLease>> waiters = new ArrayList<>();
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
	@Tag("F22")
	void waiterWhoseClientHasGoneIsPassedOver() throws Exception {
		LockLease lease = acquired(this.other);
		FutureTask<@Nullable LockLease> gone = waiter(this.backend);
		FutureTask<@Nullable LockLease> next = waiter(this.other);
		this.near.close();
		assertThatExceptionOfType(ExecutionException.class).isThrownBy(gone::get);
		assertThat(next).isNotDone();
		assertThat(released(lease)).isTrue();
		assertThat(next.get()).isNotNull();
	}

	// Keys

	/**
	 * What the paths of ZooKeeper refuse, and what Curator would take for a child of
	 * another lock.
	 */
	@ParameterizedTest
	@ValueSource(
			strings = { ".", "..", "/", "//", "/a", "a/", "a/0", "\0", "📦", "\ud7ff\ue000", "zookeeper", "%", "_" })
	@Tag("F45")
	@Tag("F46")
	void keyThatIsNoPathIsALockOfItsOwn(String key) throws Exception {
		LockLease around = this.other.acquire(ZooKeeperRequests.request("a", PATIENCE));
		LockLease lease = this.backend.acquire(ZooKeeperRequests.request(key, PATIENCE));
		assertThat(around).isNotNull();
		assertThat(lease).isNotNull();
		assertThat(this.other.acquire(ZooKeeperRequests.request(key, NO_WAIT))).isNull();
		assertThat(this.other.holder(key)).extracting(LockHolder::owner, LockHolder::text)
			.containsExactly(lease.owner(), "held by test");
		assertThat(released(lease)).isTrue();
		assertThat(this.other.holder(key)).isNull();
		assertThat(released(around)).isTrue();
	}

	private static long session(CuratorFramework client) throws Exception {
		return client.getZookeeperClient().getZooKeeper().getSessionId();
	}

	private static boolean released(LockLease lease) {
		return lease.release().toCompletableFuture().join();
	}

	/**
	 * Starts to wait, and returns when the wait has begun.
	 */
	private FutureTask<@Nullable LockLease> waiter(ZooKeeperLockBackend backend) {
		int before = this.nodes.queue(this.key).size();
		FutureTask<@Nullable LockLease> waiter = start(
				() -> backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE)));
		await().until(() -> this.nodes.queue(this.key).size() == before + 1);
		return waiter;
	}

	/**
	 * A client that tells what it watches.
	 */
	@SuppressWarnings("try")
	private static final class Watches extends ZooKeeper {

		private Watches(String address, int timeout, Watcher watcher) throws IOException {
			super(address, timeout, watcher);
		}

		/**
		 * Not those of Curator on the list of servers.
		 */
		private List<String> ofLocks() {
			return getDataWatches().stream().filter((path) -> path.startsWith(LockPaths.LOCKS)).toList();
		}

	}

}
