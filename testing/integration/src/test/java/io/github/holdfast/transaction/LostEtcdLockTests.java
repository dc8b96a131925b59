package io.github.holdfast.transaction;

import java.nio.charset.StandardCharsets;
import java.time.Duration;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.DeleteOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockLostException;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/**
 * etcd forgets a lock while its holder works, or cannot be reached by it.
 */
@Timeout(180)
@Tag("long")
@RequiresEtcd
class LostEtcdLockTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F33")
	void noUpdateIsLostAtFenceWhenAnOperatorDeletesTheKeys(TestDatabase database) {
		String endpoint = EtcdServer.shared().endpoint();
		TwoNodes.run(
				LockedApplication.etcd(database.newDatabase(), endpoint)
					.withPropertyValues("holdfast.etcd.namespace=/" + database + "/"),
				CommitGuardLevel.FENCE, (nodes) -> {
					TwoNodes.Sales sales = nodes
						.sellWhatWasReadBefore(() -> deleteKeys(endpoint, "/" + database + "/"));
					assertThat(sales.refusal()).isNotNull();
					assertThat(sales.secondToken()).isGreaterThan(sales.firstToken());
					assertThat(nodes.quantity()).isEqualTo(99);
				});
	}

	@Test
	@Tag("F33")
	void updateIsLostAtLeaseWhenAnOperatorDeletesTheKeys() {
		String endpoint = EtcdServer.shared().endpoint();
		TwoNodes.run(LockedApplication.etcd(TestDatabase.H2.newDatabase(), endpoint)
			.withPropertyValues("holdfast.etcd.namespace=/unfenced/"), CommitGuardLevel.LEASE, (nodes) -> {
				TwoNodes.Sales sales = nodes.sellAtTheSameTime(() -> deleteKeys(endpoint, "/unfenced/"));
				assertThat(sales.refusal()).isNull();
				assertThat(nodes.quantity()).as("two were sold").isEqualTo(99);
			});
	}

	/**
	 * Its revisions begin anew.
	 */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F17")
	void tokensRiseAndNoUpdateIsLostAtFenceWhenEtcdIsSetUpAnew(TestDatabase database) {
		DatabaseAccess access = database.newDatabase();
		try (EtcdServer old = EtcdServer.start();
				EtcdServer anew = EtcdServer.start();
				FaultProxy proxy = new FaultProxy(old.port())) {
			TwoNodes.run(LockedApplication.etcd(access, old.endpoint(proxy.port())), CommitGuardLevel.FENCE,
					(nodes) -> {
						for (int i = 0; i < 20; i++) {
							nodes.sell();
						}
						TwoNodes.Sales sales = nodes.sellWhatWasReadBefore(() -> {
							proxy.redirect(anew.port());
							proxy.reset();
						});
						assertThat(sales.refusal()).isNotNull();
						assertThat(sales.secondToken()).isGreaterThan(sales.firstToken());
						assertThat(nodes.sell()).isGreaterThan(sales.secondToken());
						assertThat(nodes.quantity()).isEqualTo(78);
					});
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F20")
	void holderThatIsCutOffCommitsAtFenceAsNobodyElseHadTheLock(TestDatabase database) {
		cutOff(database, CommitGuardLevel.FENCE, (stock, untilTheLeaseIsOver) -> {
			stock.take("A", untilTheLeaseIsOver);
			assertThat(stock.quantity("A")).isEqualTo(99);
		});
	}

	@Test
	@Tag("F20")
	void holderThatIsCutOffCannotCommitAtLease() {
		cutOff(TestDatabase.H2, CommitGuardLevel.LEASE, (stock, untilTheLeaseIsOver) -> {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> stock.take("A", untilTheLeaseIsOver));
			assertThat(stock.quantity("A")).isEqualTo(100);
		});
	}

	private static void deleteKeys(String endpoint, String prefix) {
		try (Client operator = Client.builder().endpoints(endpoint).build()) {
			long deleted = operator.getKVClient()
				.delete(ByteSequence.from(prefix, StandardCharsets.UTF_8),
						DeleteOption.builder().isPrefix(true).build())
				.join()
				.getDeleted();
			assertThat(deleted).isEqualTo(1);
		}
	}

	private static void cutOff(TestDatabase database, CommitGuardLevel level, CutOff test) {
		EtcdServer server = EtcdServer.shared();
		try (FaultProxy proxy = new FaultProxy(server.port())) {
			LockedApplication.etcd(database.newDatabase(), server.endpoint(proxy.port()))
				.withBean(StockService.class)
				.withPropertyValues("holdfast.commit-guard=" + level, "holdfast.jdbc.initialize-schema=always",
						"holdfast.key-prefix=" + proxy.port(), "holdfast.lease-time=2s")
				.run((context) -> {
					test.run(context.getBean(StockService.class), () -> {
						LockContext lock = LockContext.current().orElseThrow();
						proxy.inject(FaultProxy.Fault.BLACKHOLE);
						await().atMost(Duration.ofSeconds(60)).until(() -> !lock.isValid());
					});
					proxy.inject(FaultProxy.Fault.NONE);
				});
		}
	}

	@FunctionalInterface
	private interface CutOff {

		void run(StockService stock, Runnable untilTheLeaseIsOver);

	}

}
