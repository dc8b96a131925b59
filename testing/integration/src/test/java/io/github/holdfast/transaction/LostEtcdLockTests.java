package io.github.holdfast.transaction;

import java.nio.charset.StandardCharsets;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.DeleteOption;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.FaultProxy;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/** etcd forgets a lock while its holder works, or cannot be reached by it. */
@Timeout(180)
@Tag("long")
@RequiresEtcd
class LostEtcdLockTests {

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void noUpdateIsLostAtFenceWhenAnOperatorDeletesTheKeys(TestDatabase database) {
		String endpoint = EtcdServer.shared().endpoint();
		TwoNodes.run(LockedApplication.etcd(database.newDatabase(), endpoint)
			.withPropertyValues("holdfast.key-prefix=" + database + ":"), CommitGuardLevel.FENCE, (nodes) -> {
				TwoNodes.Sales sales = nodes.sellWhatWasReadBefore(() -> deleteKeys(endpoint, database + ":"));
				assertThat(sales.refusal()).isNotNull();
				assertThat(sales.secondToken()).isGreaterThan(sales.firstToken());
				assertThat(nodes.quantity()).isEqualTo(99);
			});
	}

	/** Its revisions begin anew. */
	@ParameterizedTest
	@EnumSource(TestDatabase.class)
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

}
