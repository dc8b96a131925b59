package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.FutureTask;

import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockHolder;
import io.github.holdfast.contract.LockBackendContractTests;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.TestLease;
import io.github.holdfast.testsupport.ZooKeeperServer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

/**
 * The contract with one ZooKeeper server, for two clients with a session each, and locks
 * that several holders share.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ZooKeeperLockBackendTests extends LockBackendContractTests {

	private static final Duration NO_WAIT = Duration.ZERO;

	private static final Duration PATIENCE = Duration.ofSeconds(30);

	private CuratorFramework first;

	private CuratorFramework second;

	private ZooKeeperLockBackend backend;

	private ZooKeeperLockBackend secondBackend;

	private LockNodes nodes;

	private ZooKeeperServer server;

	void startServers() {
		this.server = ZooKeeperServer.start();
	}

	CuratorFramework newClient() {
		return this.server.client();
	}

	void stopServers() {
		this.server.close();
	}

	@BeforeAll
	final void connect() {
		startServers();
		this.first = newClient();
		this.second = newClient();
		this.nodes = new LockNodes(this.first);
		this.backend = new ZooKeeperLockBackend(() -> this.first);
		this.secondBackend = new ZooKeeperLockBackend(() -> this.second);
	}

	@AfterAll
	final void disconnect() {
		this.first.close();
		this.second.close();
		stopServers();
	}

	@Override
	protected final LockBackend backend() {
		return this.backend;
	}

	@Override
	protected final LockBackend secondBackend() {
		return this.secondBackend;
	}

	@Test
	void readersShareAndWritersDoNot() throws Exception {
		String key = "shared:" + UUID.randomUUID();
		TestLease reader = TestLease.acquire(this.backend, Requests.shared(key, PATIENCE));
		TestLease otherReader = TestLease.acquire(this.secondBackend, Requests.shared(key, PATIENCE));
		assertThat(TestLease.acquire(this.backend, Requests.request(key, NO_WAIT))).isNull();
		assertThat(released(reader)).isTrue();
		assertThat(TestLease.acquire(this.backend, Requests.request(key, NO_WAIT))).isNull();
		assertThat(released(otherReader)).isTrue();
		TestLease writer = TestLease.acquire(this.backend, Requests.request(key, PATIENCE));
		assertThat(TestLease.acquire(this.secondBackend, Requests.shared(key, NO_WAIT))).isNull();
		assertThat(released(writer)).isTrue();
		assertThat(otherReader.epoch()).isGreaterThan(reader.epoch());
		assertThat(writer.epoch()).isGreaterThan(otherReader.epoch());
	}

	@Test
	void firstOfSeveralReadersIsReportedAndAllAreReleasedByForce() throws Exception {
		String key = "shared:" + UUID.randomUUID();
		TestLease reader = TestLease.acquire(this.backend, Requests.shared(key, PATIENCE));
		TestLease otherReader = TestLease.acquire(this.secondBackend, Requests.shared(key, PATIENCE));
		FutureTask<@Nullable TestLease> writer = this.nodes.waiter(this.backend, Requests.request(key, PATIENCE));
		assertThat(this.secondBackend.holder(key)).extracting(LockHolder::epoch).isEqualTo(reader.epoch());
		assertThat(this.backend.forceRelease(key)).isTrue();
		assertThat(reader.renew(PATIENCE)).isFalse();
		assertThat(otherReader.renew(PATIENCE)).isFalse();
		assertThat(released(writer.get())).isTrue();
		assertThat(this.backend.holder(key)).isNull();
	}

	@Test
	void writerWaitsForAllReadersAndLaterReadersWaitForIt() throws Exception {
		String key = "shared:" + UUID.randomUUID();
		TestLease early = TestLease.acquire(this.backend, Requests.shared(key, PATIENCE));
		TestLease alsoEarly = TestLease.acquire(this.secondBackend, Requests.shared(key, PATIENCE));
		FutureTask<@Nullable TestLease> writer = this.nodes.waiter(this.backend, Requests.request(key, PATIENCE));
		FutureTask<@Nullable TestLease> late = this.nodes.waiter(this.secondBackend, Requests.shared(key, PATIENCE));
		FutureTask<@Nullable TestLease> alsoLate = this.nodes.waiter(this.backend, Requests.shared(key, PATIENCE));
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

	private static boolean released(@Nullable TestLease lease) {
		assertThat(lease).isNotNull();
		return lease.release().join();
	}

}
