package io.github.holdfast.transaction;

import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Objects;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockLostException;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * A method that ends its transaction by itself, and goes on: what the transaction has
 * locked is free. Its COMMIT is refused if another one has sold meanwhile.
 */
class TransactionEndedByMethodTests {

	private static final Runnable NOTHING = () -> {
	};

	private final RedisServer redis = RedisServer.shared();

	@ParameterizedTest
	@EnumSource
	void noUpdateIsLost(TestDatabase database) {
		for (End end : End.values()) {
			assertThat(losesAnUpdate(LockedApplication.jdbc(database.newDatabase()), end, NOTHING)).as("%s", end)
				.isFalse();
		}
	}

	@ParameterizedTest
	@EnumSource
	void leaseOutlivesTheTransaction(TestDatabase database) {
		for (End end : End.values()) {
			assertThat(losesAnUpdate(
					LockedApplication.jdbc(database.newDatabase()).withPropertyValues("holdfast.jdbc.mode=lease"), end,
					NOTHING))
				.as("%s", end)
				.isFalse();
		}
	}

	/**
	 * Others get the lock only if Redis has forgotten it.
	 */
	@ParameterizedTest
	@EnumSource
	void noUpdateIsLostAtTheFence(TestDatabase database) {
		for (End end : End.values()) {
			assertThat(losesAnUpdate(
					RedisStore.REDIS.application(database.newDatabase(), this.redis.port())
						.withPropertyValues("holdfast.commit-guard=fence", "holdfast.fence.initialize-schema=always"),
					end, () -> this.redis.command("FLUSHALL")))
				.as("%s", end)
				.isFalse();
		}
	}

	@Test
	void updateIsLostWithoutALock() {
		assertThat(losesAnUpdate(LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
			.withPropertyValues("holdfast.enabled=false"), End.COMMIT, NOTHING)).isTrue();
	}

	@Test
	void nameOfTheApplicationIsItsOwnAgain() {
		LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
			.withBean(LockedShop.class)
			.withPropertyValues("spring.datasource.hikari.maximum-pool-size=1",
					"spring.datasource.hikari.data-source-properties.ApplicationName=shop")
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				LockedShop.createTables(jdbc);
				LockedShop shop = context.getBean(LockedShop.class);
				shop.take(NOTHING);
				shop.take(() -> assertThat(name(jdbc)).isEqualTo("holdfast: shop"));
				assertThat(name(jdbc)).isEqualTo("shop");
			});
	}

	/**
	 * What a method says of itself is no reason to refuse its commit.
	 */
	@Test
	void methodMayNameItsSession() {
		LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase()).withBean(LockedShop.class).run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			LockedShop.createTables(jdbc);
			LockedShop shop = context.getBean(LockedShop.class);
			shop.take(NOTHING);
			for (String name : new String[] { "report", "holdfast: report", "" }) {
				shop.take(() -> jdbc.execute("SET application_name = '" + name + "'"));
			}
			assertThat(shop.quantity()).isEqualTo(96);
		});
	}

	private static String name(JdbcTemplate jdbc) {
		return Objects.requireNonNull(jdbc.queryForObject(
				"SELECT application_name FROM pg_stat_activity WHERE pid = pg_backend_pid()", String.class));
	}

	private static boolean losesAnUpdate(ApplicationContextRunner application, End end, Runnable forgetting) {
		ApplicationContextRunner node = application.withBean(LockedShop.class)
			.withPropertyValues("holdfast.wait-time=0");
		boolean[] lost = new boolean[1];
		node.run((context) -> node.run((other) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			LockedShop.createTables(jdbc);
			LockedShop shop = context.getBean(LockedShop.class);
			AcknowledgedSales sales = new AcknowledgedSales();
			for (int i = 0; i < 3; i++) {
				assertThat(sales.sell(1, () -> shop.take(NOTHING))).isNull();
			}
			Throwable refusal = sales.sell(1, () -> shop.take(() -> {
				jdbc.execute(end);
				forgetting.run();
				sales.sellMeanwhile(1, () -> other.getBean(LockedShop.class).take(NOTHING));
			}));
			lost[0] = catchThrowable(() -> sales.assertNoneIsLostIn(shop.quantity())) != null;
			if (refusal != null) {
				assertThat(refusal).isInstanceOf(LockLostException.class);
			}
		}));
		return lost[0];
	}

	private enum End implements ConnectionCallback<Void> {

		COMMIT {

			@Override
			void end(Connection connection) throws SQLException {
				connection.commit();
			}

		},

		ROLLBACK {

			@Override
			void end(Connection connection) throws SQLException {
				connection.rollback();
			}

		},

		AUTO_COMMIT {

			@Override
			void end(Connection connection) throws SQLException {
				connection.setAutoCommit(true);
				connection.setAutoCommit(false);
			}

		},

		STATEMENT {

			@Override
			void end(Connection connection) throws SQLException {
				try (Statement statement = connection.createStatement()) {
					statement.execute("COMMIT");
				}
			}

		};

		abstract void end(Connection connection) throws SQLException;

		@Override
		public Void doInConnection(Connection connection) throws SQLException {
			end(connection);
			return null;
		}

	}

}
