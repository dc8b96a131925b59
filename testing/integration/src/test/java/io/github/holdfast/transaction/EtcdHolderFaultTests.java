package io.github.holdfast.transaction;

import java.time.Duration;

import com.zaxxer.hikari.HikariDataSource;
import io.etcd.jetcd.Client;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.testsupport.ChildJvm;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.EtcdServer;
import io.github.holdfast.testsupport.RequiresEtcd;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A node with its locks in etcd dies or stops in the middle of a locked call.
 */
@Timeout(180)
@Tag("long")
@RequiresEtcd
class EtcdHolderFaultTests {

	private static final Duration PATIENCE = Duration.ofSeconds(60);

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F12")
	void killedHolderFreesTheLockWithItsLease(TestDatabase database) throws Exception {
		try (Warehouse warehouse = new Warehouse(database); ChildJvm holder = warehouse.holder()) {
			holder.send("READ");
			holder.await("READ", PATIENCE);
			holder.kill();
			assertThat(warehouse.take()).isEqualTo("COMMITTED");
			assertThat(warehouse.quantity()).isEqualTo(99);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F13")
	void pausedHolderCannotCommitOverItsSuccessor(TestDatabase database) throws Exception {
		try (Warehouse warehouse = new Warehouse(database); ChildJvm holder = warehouse.holder()) {
			holder.send("READ");
			holder.await("READ", PATIENCE);
			holder.pause();
			assertThat(warehouse.take()).isEqualTo("COMMITTED");
			holder.resume();
			holder.send("go on");
			assertThat(holder.await("REJECTED ", PATIENCE)).isEqualTo("LockLostException");
			assertThat(warehouse.quantity()).isEqualTo(99);
			holder.send("no pause");
			holder.await("COMMITTED", PATIENCE);
			assertThat(warehouse.quantity()).isEqualTo(98);
		}
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	@Tag("F13")
	void holderThatIsPausedBeforeItsInstallationAcquiresAnew(TestDatabase database) throws Exception {
		try (Warehouse warehouse = new Warehouse(database); ChildJvm holder = warehouse.holder()) {
			holder.send("ACQUIRED");
			holder.await("ACQUIRED", PATIENCE);
			holder.pause();
			assertThat(warehouse.take()).isEqualTo("COMMITTED");
			holder.resume();
			holder.send("go on");
			holder.await("ACQUIRED", PATIENCE);
			holder.send("go on");
			holder.await("COMMITTED", PATIENCE);
			assertThat(warehouse.quantity()).isEqualTo(98);
		}
	}

	/**
	 * The stock, and a client of etcd.
	 */
	private static final class Warehouse implements AutoCloseable {

		private final EtcdServer etcd = EtcdServer.shared();

		private final DatabaseAccess access;

		private final HikariDataSource business;

		private final Client client;

		private Warehouse(TestDatabase database) {
			this.access = database.newRemoteDatabase();
			this.business = this.access.dataSource(4);
			this.client = EtcdHolderWorker.connect(this.etcd.endpoint());
			LockPlace.createTable(this.business, database);
			JdbcTemplate jdbc = new JdbcTemplate(this.business);
			jdbc.execute("CREATE TABLE stock (sku varchar(50) PRIMARY KEY, quantity integer NOT NULL)");
			jdbc.update("INSERT INTO stock VALUES ('A', 100)");
		}

		ChildJvm holder() {
			return ChildJvm.start(EtcdHolderWorker.class, this.etcd.endpoint(), this.access.url(), this.access.user(),
					this.access.password());
		}

		String take() {
			return EtcdHolderWorker.take(this.business, this.client, (point) -> {
			});
		}

		int quantity() {
			Integer quantity = new JdbcTemplate(this.business).queryForObject("SELECT quantity FROM stock",
					Integer.class);
			return (quantity != null) ? quantity : -1;
		}

		@Override
		public void close() {
			this.client.close();
			this.business.close();
		}

	}

}
