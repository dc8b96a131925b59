package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.Comparator;
import java.util.UUID;
import java.util.concurrent.CompletionException;
import java.util.concurrent.FutureTask;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.EtcdCluster;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestLease;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** A cluster of three members loses its leader, or more, while locks are held. */
@Timeout(180)
@Tag("long")
@RequiresEtcd
class EtcdFailoverTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	private final String key = "failover:" + UUID.randomUUID();

	private EtcdCluster cluster;

	private EtcdNode first;

	private EtcdNode second;

	@BeforeEach
	void start() {
		this.cluster = EtcdCluster.start();
		this.first = new EtcdNode(this.cluster.endpoints());
		// Not with the leader: a waiter has given up before it knows that its member is
		// paused
		String leader = this.cluster.leader().endpoint();
		this.second = new EtcdNode(
				this.cluster.endpoints().stream().sorted(Comparator.comparing(leader::equals)).toList());
	}

	@AfterEach
	void stop() {
		this.first.close();
		this.second.close();
		this.cluster.close();
	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void locksAreKeptAndWaitedForWhenTheLeaderIsLost(boolean killed) throws Exception {
		TestLease lease = this.first.acquired(Requests.request(this.key, LONG));
		FutureTask<@Nullable TestLease> waiter = this.second.start(Requests.request(this.key, LONG));
		await().ignoreException(CompletionException.class).until(() -> this.first.entries(this.key).size() == 2);
		EtcdServer leader = this.cluster.leader();
		if (killed) {
			leader.kill();
		}
		else {
			leader.pause();
		}
		assertThat(await().atMost(LONG)
			.ignoreException(LockBackendException.class)
			.until(() -> lease.renew(LONG), (it) -> true)).isTrue();
		assertThat(waiter).isNotDone();
		assertThat(await().atMost(LONG)
			.ignoreException(CompletionException.class)
			.until(() -> this.first.entries(this.key).size(), (it) -> it > 0)).isEqualTo(2);
		release(lease);
		TestLease next = waiter.get();
		assertThat(next).isNotNull();
		assertThat(next.epoch()).isGreaterThan(lease.epoch());
		if (!killed) {
			leader.resume();
		}
		assertThat(await().atMost(LONG)
			.ignoreException(LockBackendException.class)
			.until(() -> next.renew(LONG), (it) -> true)).isTrue();
		release(next);
		await().atMost(LONG)
			.ignoreException(CompletionException.class)
			.until(() -> this.second.entries(this.key).isEmpty());
	}

	/** May ask the member that is gone, and is then repeated, as the library does. */
	private static void release(TestLease lease) {
		await().atMost(LONG).ignoreExceptions().until(() -> lease.release().join(), (released) -> true);
	}

	@Test
	void nothingIsGrantedWithoutAMajority() throws Exception {
		TestLease lease = this.first.acquired(Requests.request(this.key, LONG, Duration.ofSeconds(10)));
		this.cluster.followers().forEach(EtcdServer::kill);
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(
				() -> TestLease.acquire(this.second.backend(), Requests.request(this.key, Duration.ofSeconds(5))));
		await().atMost(LONG).until(() -> !lease.isValid());
		assertThatExceptionOfType(LockBackendException.class).isThrownBy(() -> lease.renew(LONG));
	}

}
