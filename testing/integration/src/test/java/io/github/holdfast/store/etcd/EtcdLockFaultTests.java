package io.github.holdfast.store.etcd;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.PutOption;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.store.Requests;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.FaultProxy.Fault;
import io.github.holdfast.testsupport.LockFaultContractTests;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestLease;
import io.github.holdfast.testsupport.TestStore;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** What operators, a full disk and other waiters do to locks in etcd. */
@RequiresEtcd
class EtcdLockFaultTests extends LockFaultContractTests {

	private static final Duration LONG = Duration.ofSeconds(60);

	@AutoClose
	private static final EtcdServer server = EtcdServer.start();

	private EtcdNode first;

	private EtcdNode second;

	@Override
	protected TestStore<?> open() {
		EtcdStore store = new EtcdStore(server);
		this.first = store.nearClient();
		this.second = store.farClient();
		return store;
	}

	@Test
	void lockIsKeptOverARestart() throws Exception {
		TestLease lease = this.first.acquired(Requests.request(this.key, NO_WAIT));
		FutureTask<@Nullable TestLease> waiter = this.second.start(Requests.request(this.key, LONG));
		await().until(() -> this.first.entries(this.key).size() == 2);
		server.restart();
		assertThat(await().ignoreException(LockBackendException.class).until(() -> lease.renew(LONG), (it) -> true))
			.isTrue();
		assertThat(TestLease.acquire(this.first.backend(), Requests.request(this.key, NO_WAIT))).isNull();
		assertThat(waiter).isNotDone();
		assertThat(EtcdNode.release(lease)).isTrue();
		TestLease next = waiter.get();
		assertThat(next).isNotNull();
		assertThat(next.epoch()).isGreaterThan(lease.epoch());
		assertThat(EtcdNode.release(next)).isTrue();
	}

	@Test
	void holderIsToldThatItsLeaseWasRevoked() throws Exception {
		TestLease lease = this.first.acquired(Requests.request(this.key, NO_WAIT));
		this.second.client().getLeaseClient().revoke(this.first.entries(this.key).get(0).getLease()).join();
		TestLease successor = this.second.acquired(Requests.request(this.key, NO_WAIT));
		assertThat(lease.renew(LONG)).isFalse();
		assertThat(successor.renew(LONG)).isTrue();
	}

	/**
	 * A stalled member may be late with what its caller has long since asked another one.
	 */
	@Test
	void renewalMovesAnEntryThatAnEarlierRenewalHasGivenAnotherLease() throws Exception {
		TestLease lease = this.first.acquired(Requests.request(this.key, NO_WAIT));
		KeyValue granted = this.first.entries(this.key).get(0);
		long late = this.first.client().getLeaseClient().grant(20).join().getID();
		this.first.client()
			.getKVClient()
			.put(granted.getKey(), granted.getValue(), PutOption.builder().withLeaseId(late).build())
			.join();
		assertThat(lease.renew(LONG)).isTrue();
		assertThat(this.first.entries(this.key).get(0).getLease()).isNotIn(late, granted.getLease());
		this.first.client().getLeaseClient().revoke(late).join();
		assertThat(lease.renew(LONG)).isTrue();
		assertThat(lease.renew(LONG.plusSeconds(10))).isTrue();
		assertThat(EtcdNode.release(lease)).isTrue();
	}

	@Test
	void foreignClientsExcludeByTheirMutex() throws Exception {
		long session = this.second.client().getLeaseClient().grant(60).join().getID();
		// As etcdctl lock and concurrency.Mutex of Go do it
		ByteSequence entry = EtcdQueue.bytes(this.key + "/" + Long.toHexString(session));
		this.second.client()
			.getKVClient()
			.put(entry, ByteSequence.EMPTY, PutOption.builder().withLeaseId(session).build())
			.join();
		assertThat(TestLease.acquire(this.first.backend(), Requests.request(this.key, NO_WAIT))).isNull();
		assertThat(TestLease.acquire(this.first.backend(), Requests.shared(this.key, NO_WAIT))).isNull();
		assertThat(this.first.backend().holder(this.key)).extracting(LockHolder::description)
			.isEqualTo("held by another client of etcd");
		this.second.client().getLeaseClient().revoke(session).join();
		TestLease lease = this.first.acquired(Requests.request(this.key, NO_WAIT));
		assertThat(this.second.entries(this.key)).singleElement()
			.satisfies((own) -> assertThat(own.getKey())
				.isEqualTo(EtcdQueue.bytes(this.key + "/" + Long.toHexString(own.getLease()))));
		assertThat(EtcdNode.release(lease)).isTrue();
	}

	@Test
	void waiterWhoseLeaseWasRevokedQueuesAgain() throws Exception {
		TestLease lease = this.first.acquired(Requests.request(this.key, NO_WAIT));
		FutureTask<@Nullable TestLease> waiter = this.second.start(Requests.request(this.key, LONG));
		await().until(() -> this.first.entries(this.key).size() == 2);
		KeyValue entry = this.first.entries(this.key).get(1);
		this.first.client().getLeaseClient().revoke(entry.getLease()).join();
		await().until(() -> this.first.entries(this.key).size() == 2);
		assertThat(this.first.entries(this.key).get(1).getLease()).isNotEqualTo(entry.getLease());
		assertThat(EtcdNode.release(lease)).isTrue();
		assertThat(waiter.get()).isNotNull();
	}

	@Test
	void fullEtcdGrantsNothingAndReleasesWhatIsHeld() throws Exception {
		try (EtcdServer full = EtcdServer.start("--quota-backend-bytes", "100000");
				EtcdNode node = new EtcdNode(List.of(full.endpoint()))) {
			TestLease lease = node.acquired(Requests.request(this.key, NO_WAIT));
			ByteSequence large = EtcdQueue.bytes("x".repeat(100_000));
			assertThatExceptionOfType(Exception.class).isThrownBy(() -> {
				for (int i = 0; i < 100; i++) {
					node.client().getKVClient().put(EtcdQueue.bytes("/large" + i), large).join();
				}
			}).withMessageContaining("database space exceeded");
			assertThatExceptionOfType(LockBackendException.class)
				.isThrownBy(() -> TestLease.acquire(node.backend(), Requests.request("other:" + this.key, LONG)))
				.withMessageContaining("etcd failed");
			assertThat(node.keys("other")).isEmpty();
			assertThat(lease.renew(LONG)).isTrue();
			assertThat(EtcdNode.release(lease)).isTrue();
		}
	}

	/**
	 * What makes it safe to revoke the lease of a request that may still be on its way.
	 */
	@Test
	void entryIsNotPutWithALeaseThatIsGone() {
		long lease = this.first.client().getLeaseClient().grant(60).join().getID();
		this.first.client().getLeaseClient().revoke(lease).join();
		ByteSequence entry = EtcdQueue.bytes("/late" + this.key);
		assertThatExceptionOfType(Exception.class)
			.isThrownBy(() -> this.first.client()
				.getKVClient()
				.txn()
				.Then(Op.put(entry, entry, PutOption.builder().withLeaseId(lease).build()))
				.commit()
				.join())
			.withMessageContaining("requested lease not found");
		assertThat(this.first.keys("/late" + this.key)).isEmpty();
	}

	@Test
	void waitersWhoGiveUpLeaveTheQueue() throws Exception {
		TestLease lease = this.first.acquired(Requests.request(this.key, NO_WAIT));
		FutureTask<@Nullable TestLease> head = this.second.start(Requests.request(this.key, Duration.ofSeconds(5)));
		await().until(() -> this.first.entries(this.key).size() == 2);
		FutureTask<@Nullable TestLease> last = this.second.start(Requests.request(this.key, LONG));
		await().until(() -> this.first.entries(this.key).size() == 3);
		for (int i = 0; i < 20; i++) {
			assertThat(TestLease.acquire(this.first.backend(), Requests.request(this.key, Duration.ofMillis(i))))
				.isNull();
		}
		assertThat(head.get()).isNull();
		assertThat(this.first.entries(this.key)).hasSize(2);
		assertThat(last).isNotDone();
		assertThat(EtcdNode.release(lease)).isTrue();
		assertThat(last.get()).isNotNull();
	}

	@Test
	void waiterWhoseJvmHasGoneLosesItsPlaceWithItsLease() throws Exception {
		TestLease lease = this.first.acquired(Requests.request(this.key, NO_WAIT));
		this.second.start(Requests.request(this.key, LONG, Duration.ofSeconds(2)));
		await().until(() -> this.first.entries(this.key).size() == 2);
		FutureTask<@Nullable TestLease> next = this.first.start(Requests.request(this.key, LONG));
		await().until(() -> this.first.entries(this.key).size() == 3);
		// Without a way to leave the queue, as if it had been killed
		this.second.close();
		assertThat(EtcdNode.release(lease)).isTrue();
		assertThat(next.get(60, TimeUnit.SECONDS)).isNotNull();
	}

	@Test
	void nothingIsLeftOfManyLocks() throws Exception {
		try (EtcdServer clean = EtcdServer.start(); EtcdNode node = new EtcdNode(List.of(clean.endpoint()))) {
			for (int i = 0; i < 1000; i++) {
				TestLease lease = node.acquired(Requests.request(this.key + i, NO_WAIT));
				if (i % 100 == 0) {
					TestLease.acquire(node.backend(), Requests.request(this.key + i, NO_WAIT));
					TestLease.acquire(node.backend(), Requests.request(this.key + i, Duration.ofMillis(10)));
					assertThat(lease.renew(LONG.plusSeconds(i + 1))).isTrue();
				}
				assertThat(EtcdNode.release(lease)).isTrue();
			}
			assertThat(node.keys("")).isEmpty();
			await().until(() -> clean.leases() == 0);
		}
	}

	/** The watch cannot go on where it was interrupted. */
	@Test
	void waiterGetsTheLockAlthoughWhatItWatchedWasCompacted() throws Exception {
		TestLease lease = this.first.acquired(Requests.request(this.key, NO_WAIT));
		try (FaultProxy proxy = new FaultProxy(server.port());
				EtcdNode far = new EtcdNode(List.of(server.endpoint(proxy.port())))) {
			FutureTask<@Nullable TestLease> waiter = far.start(Requests.request(this.key, LONG));
			await().until(() -> this.first.entries(this.key).size() == 2);
			proxy.inject(Fault.BLACKHOLE);
			assertThat(EtcdNode.release(lease)).isTrue();
			this.first.client().getKVClient().compact(revision()).join();
			proxy.inject(Fault.REFUSE);
			proxy.reset();
			proxy.inject(Fault.NONE);
			TestLease next = waiter.get();
			assertThat(next).isNotNull();
			assertThat(EtcdNode.release(next)).isTrue();
		}
	}

	private long revision() {
		return this.first.client().getKVClient().get(EtcdQueue.bytes("/")).join().getHeader().getRevision();
	}

}
