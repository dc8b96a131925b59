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

import io.github.holdfast.LockHolder;
import io.github.holdfast.LockRequest;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.TestLease;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/** Locks that several holders share, on two nodes. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(120)
class SharedZooKeeperLockTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private final ZooKeeperServer server = ZooKeeperServer.start();

	private final CuratorFramework firstClient = this.server.client();

	private final CuratorFramework secondClient = this.server.client();

	private final ZooKeeperLockBackend first = new ZooKeeperLockBackend(() -> this.firstClient);

	private final ZooKeeperLockBackend second = new ZooKeeperLockBackend(() -> this.secondClient);

	private final LockNodes nodes = new LockNodes(this.firstClient);

	@AfterAll
	void close() {
		this.firstClient.close();
		this.secondClient.close();
		this.server.close();
	}

	@Test
	void readersShareAndWritersDoNot() throws Exception {
		String key = newKey();
		TestLease reader = TestLease.acquire(this.first, Requests.shared(key, PATIENCE));
		TestLease otherReader = TestLease.acquire(this.second, Requests.shared(key, PATIENCE));
		assertThat(TestLease.acquire(this.first, Requests.request(key, NO_WAIT))).isNull();
		assertThat(released(reader)).isTrue();
		assertThat(TestLease.acquire(this.first, Requests.request(key, NO_WAIT))).isNull();
		assertThat(released(otherReader)).isTrue();
		TestLease writer = TestLease.acquire(this.first, Requests.request(key, PATIENCE));
		assertThat(TestLease.acquire(this.second, Requests.shared(key, NO_WAIT))).isNull();
		assertThat(released(writer)).isTrue();
		assertThat(otherReader.epoch()).isGreaterThan(reader.epoch());
		assertThat(writer.epoch()).isGreaterThan(otherReader.epoch());
	}

	@Test
	void firstOfSeveralReadersIsReportedAndAllAreReleasedByForce() throws Exception {
		String key = newKey();
		TestLease reader = TestLease.acquire(this.first, Requests.shared(key, PATIENCE));
		TestLease otherReader = TestLease.acquire(this.second, Requests.shared(key, PATIENCE));
		FutureTask<@Nullable TestLease> writer = waiter(this.first, Requests.request(key, PATIENCE));
		assertThat(this.second.holder(key)).extracting(LockHolder::epoch).isEqualTo(reader.epoch());
		assertThat(this.first.forceRelease(key)).isTrue();
		assertThat(reader.renew(PATIENCE)).isFalse();
		assertThat(otherReader.renew(PATIENCE)).isFalse();
		assertThat(released(writer.get())).isTrue();
		assertThat(this.first.holder(key)).isNull();
	}

	@Test
	void writerWaitsForAllReadersAndLaterReadersWaitForIt() throws Exception {
		String key = newKey();
		TestLease early = TestLease.acquire(this.first, Requests.shared(key, PATIENCE));
		TestLease alsoEarly = TestLease.acquire(this.second, Requests.shared(key, PATIENCE));
		FutureTask<@Nullable TestLease> writer = waiter(this.first, Requests.request(key, PATIENCE));
		FutureTask<@Nullable TestLease> late = waiter(this.second, Requests.shared(key, PATIENCE));
		FutureTask<@Nullable TestLease> alsoLate = waiter(this.first, Requests.shared(key, PATIENCE));
		// Not in the order of their arrival
		assertThat(released(alsoEarly)).isTrue();
		await().during(Duration.ofMillis(200)).until(() -> !writer.isDone() && !late.isDone());
		assertThat(released(early)).isTrue();
		TestLease written = writer.get();
		assertThat(late.isDone() || alsoLate.isDone()).isFalse();
		assertThat(released(written)).isTrue();
		assertThat(late.get()).isNotNull();
		assertThat(alsoLate.get()).isNotNull();
	}

	private static String newKey() {
		return "shared:" + UUID.randomUUID();
	}

	private static boolean released(@Nullable TestLease lease) {
		assertThat(lease).isNotNull();
		return lease.release().join();
	}

	/** Starts to wait, and returns when the wait has begun. */
	private FutureTask<@Nullable TestLease> waiter(ZooKeeperLockBackend backend, LockRequest request) {
		int before = this.nodes.queue(request.key()).size();
		FutureTask<@Nullable TestLease> waiter = new FutureTask<>(() -> TestLease.acquire(backend, request));
		new Thread(waiter).start();
		await().until(() -> this.nodes.queue(request.key()).size() == before + 1);
		return waiter;
	}

}
