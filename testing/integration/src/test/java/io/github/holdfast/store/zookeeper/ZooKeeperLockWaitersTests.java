package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.FutureTask;

import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.LockLease;
import io.github.holdfast.store.GrantedLease;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * What a holder is told about those who wait for its lock.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class ZooKeeperLockWaitersTests {

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ZooKeeperServer server = ZooKeeperServer.start();

	private final CuratorFramework client = this.server.client();

	private final ZooKeeperLockBackend backend = new ZooKeeperLockBackend(() -> this.client);

	private final LockNodes nodes = new LockNodes(this.client);

	private final String key = "waiters:" + UUID.randomUUID();

	@AfterAll
	void close() {
		this.client.close();
		this.server.close();
	}

	@Test
	void holderIsToldOfThoseWhoComeLater() throws Exception {
		LockLease lease = this.backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE));
		assertThat(othersWait(lease)).isFalse();
		assertThat(othersWait(lease)).isFalse();
		FutureTask<@Nullable LockLease> waiter = waiter(2);
		assertThat(othersWait(lease)).isTrue();
		assertThat(lease.release().toCompletableFuture().get()).isTrue();
		assertThat(othersWait(lease)).as("unknown after the release").isTrue();
		LockLease next = waiter.get();
		assertThat(othersWait(next)).isFalse();
		assertThat(next.release().toCompletableFuture().get()).isTrue();
	}

	@Test
	void holderIsToldAtOnceOfThoseWhoHaveComeBefore() throws Exception {
		LockLease first = this.backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE));
		FutureTask<@Nullable LockLease> second = waiter(2);
		FutureTask<@Nullable LockLease> third = waiter(3);
		first.release();
		LockLease next = second.get();
		assertThat(othersWait(next)).isTrue();
		next.release();
		assertThat(third.get().release().toCompletableFuture().get()).isTrue();
	}

	private FutureTask<@Nullable LockLease> waiter(int place) {
		FutureTask<@Nullable LockLease> waiter = new FutureTask<>(
				() -> this.backend.acquire(ZooKeeperRequests.request(this.key, PATIENCE)));
		new Thread(waiter).start();
		await().until(() -> this.nodes.queue(this.key).size() == place);
		return waiter;
	}

	private static boolean othersWait(LockLease lease) throws Exception {
		return ((GrantedLease) lease).othersWait().toCompletableFuture().get();
	}

}
