package io.github.holdfast.transaction.attack;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/** Pools whose connections are in a transaction already, with an old snapshot. */
class OldSnapshotTests {

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void withoutTheLibraryTheTransactionReadsWhatWasCommittedThen(Database database) throws SQLException {
		try (Nodes nodes = nodes(database, "holdfast.enabled=false")) {
			sellAfterTheConnectionWasMade(nodes);
			nodes.first.shop().locked(() -> assertThat(nodes.first.count()).isZero());
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void transactionsUnderALockReadWhatIsCommitted(Database database) throws SQLException {
		try (Nodes nodes = nodes(database)) {
			sellAfterTheConnectionWasMade(nodes);
			nodes.first.shop().locked(() -> assertThat(nodes.first.count()).isEqualTo(1));
			sellAfterTheConnectionWasMade(nodes);
			nodes.first.shop().inNewTransaction(() -> assertThat(nodes.first.count()).isEqualTo(2));
		}
	}

	/**
	 * The transaction that the pool has left open keeps the level at which it has begun.
	 */
	@Test
	void transactionAtReadCommittedReadsWhatIsCommitted() throws SQLException {
		try (Nodes nodes = nodes(Database.MARIADB)) {
			sellAfterTheConnectionWasMade(nodes);
			TransactionTemplate readCommitted = nodes.first.transaction();
			readCommitted.setIsolationLevel(TransactionDefinition.ISOLATION_READ_COMMITTED);
			nodes.first.shop()
				.facade(() -> readCommitted
					.executeWithoutResult((status) -> assertThat(nodes.first.count()).isEqualTo(1)));
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void transactionOfAnEntityManagerReadsWhatIsCommitted(Database database) throws SQLException {
		try (Nodes nodes = nodes(database, JpaAttackTests.Jpa.class,
				"spring.jpa.properties.hibernate.connection.provider_disables_autocommit=true")) {
			sellAfterTheConnectionWasMade(nodes);
			nodes.first.shop().locked(() -> assertThat(nodes.first.count()).isEqualTo(1));
		}
	}

	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void connectionThatIsFetchedLateReadsWhatIsCommitted(Database database) throws SQLException {
		try (Nodes nodes = nodes(database, LateConnections.class)) {
			sellAfterTheConnectionWasMade(nodes);
			nodes.first.shop().locked(() -> assertThat(nodes.first.count()).isEqualTo(1));
		}
	}

	private static Nodes nodes(Database database, Object... parts) {
		String isolation = (database == Database.H2) ? "TRANSACTION_SERIALIZABLE" : "TRANSACTION_REPEATABLE_READ";
		return new Nodes(database,
				Stream.concat(Stream.of(parts), Stream.of("holdfast.backend=local", "holdfast.commit-guard=lease",
						"spring.datasource.hikari.auto-commit=false", "spring.datasource.hikari.maximum-pool-size=1",
						"spring.datasource.hikari.connection-init-sql=SELECT count(*) FROM sale",
						"spring.datasource.hikari.transaction-isolation=" + isolation))
					.toArray());
	}

	private static void sellAfterTheConnectionWasMade(Nodes nodes) throws SQLException {
		HikariDataSource pool = nodes.first.context().getBean(DataSource.class).unwrap(HikariDataSource.class);
		try (Connection any = pool.getConnection()) {
			pool.evictConnection(any);
		}
		pool.getConnection().close();
		nodes.execute("INSERT INTO sale VALUES (1)");
	}

	static class LateConnections implements BeanPostProcessor {

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof HikariDataSource pool) ? new LazyConnectionDataSourceProxy(pool) : bean;
		}

	}

}
