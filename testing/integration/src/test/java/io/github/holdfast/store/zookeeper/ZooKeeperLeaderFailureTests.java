package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.FutureTask;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.test.InstanceSpec;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.TestLease;
import io.github.holdfast.testsupport.ZooKeeperEnsemble;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** The leader of three servers dies while locks are held and waited for. */
@Timeout(180)
@Tag("long")
class ZooKeeperLeaderFailureTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	private final ZooKeeperEnsemble ensemble = ZooKeeperEnsemble.start();

	private final CuratorFramework firstClient = this.ensemble.client();

	private final CuratorFramework secondClient = this.ensemble.client();

	private final ZooKeeperLockBackend first = new ZooKeeperLockBackend(() -> this.firstClient);

	private final ZooKeeperLockBackend second = new ZooKeeperLockBackend(() -> this.secondClient);

	private final LockNodes nodes = new LockNodes(this.secondClient);

	private final String key = "leader:" + UUID.randomUUID();

	@AfterEach
	void close() {
		this.firstClient.close();
		this.secondClient.close();
		this.ensemble.close();
	}

	@Test
	void locksAndPlacesInTheQueueOutliveTheLeader() throws Exception {
		TestLease lease = TestLease.acquire(this.first, Requests.request(this.key, PATIENCE));
		assertThat(lease).isNotNull();
		FutureTask<@Nullable TestLease> one = this.nodes.waiter(this.second, Requests.request(this.key, PATIENCE));
		FutureTask<@Nullable TestLease> two = this.nodes.waiter(this.first, Requests.request(this.key, PATIENCE));
		InstanceSpec leader = this.ensemble.killLeader();
		// It takes a new leader to answer this
		TestLease fresh = TestLease.acquire(this.second, Requests.request("fresh:" + this.key, PATIENCE));
		assertThat(fresh).isNotNull();
		// The client of this lease may still be on its way to another server
		await().atMost(PATIENCE)
			.ignoreExceptionsInstanceOf(LockBackendException.class)
			.until(() -> lease.renew(PATIENCE));
		assertThat(lease.isValid()).isTrue();
		assertThat(one.isDone() || two.isDone()).isFalse();
		assertThat(lease.release().join()).isTrue();
		TestLease next = one.get();
		assertThat(next).isNotNull();
		assertThat(next.epoch()).isGreaterThan(lease.epoch());
		assertThat(two).isNotDone();
		this.ensemble.restart(leader);
		assertThat(next.release().toCompletableFuture().join()).isTrue();
		TestLease last = two.get();
		assertThat(last).isNotNull();
		assertThat(last.epoch()).isGreaterThan(next.epoch());
		TestLease later = TestLease.acquire(this.first, Requests.request("later:" + this.key, PATIENCE));
		assertThat(later).isNotNull();
		assertThat(later.epoch()).isGreaterThan(fresh.epoch());
	}

}
