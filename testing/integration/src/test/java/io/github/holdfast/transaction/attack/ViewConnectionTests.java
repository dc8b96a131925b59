package io.github.holdfast.transaction.attack;

import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.stream.Stream;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.PersistenceException;
import org.hibernate.FlushMode;
import org.hibernate.Session;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.transaction.RecordingDataSource;
import io.github.holdfast.transaction.attack.JpaAttackTests.Item;
import io.github.holdfast.transaction.attack.JpaAttackTests.Jpa;
import io.github.holdfast.transaction.attack.JpaAttackTests.Label;
import io.github.holdfast.transaction.attack.JpaAttackTests.TwoManagers;

import static io.github.holdfast.transaction.attack.JpaAttackTests.inView;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** The connection, the snapshot and the entities that an open view keeps. */
@Timeout(180)
class ViewConnectionTests {

	private static final String AUTO_COMMIT = "spring.datasource.hikari.auto-commit=";

	@ParameterizedTest
	@CsvSource({ "MARIADB, isolate, true, false", "MARIADB, isolate, false, false", "MARIADB, allow, false, false",
			"MARIADB, isolate, false, true", "POSTGRESQL, isolate, false, false", "H2, isolate, false, false" })
	void snapshotOfTheViewIsNotThatOfTheLockedTransaction(Database database, String staleContext, boolean autoCommit,
			boolean optimistic) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Jpa.class, Shop.Optimistic.class, AUTO_COMMIT + autoCommit,
				"holdfast.jpa.stale-context=" + staleContext)) {
			inView(nodes, (shared) -> {
				Runnable take = () -> shared.find(Item.class, 1).sold++;
				count(shared);
				Nodes.async(() -> nodes.first.shop().locked(take)).join();
				if (optimistic) {
					nodes.first.context().getBean(Shop.Optimistic.class).sell(take);
				}
				else {
					nodes.first.shop().locked(take);
				}
			});
			assertThat(nodes.soldItems()).isEqualTo(2);
			assertNoConnectionIsActive(nodes);
		}
	}

	/** The call has a context of its own, in the place of the view's. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void transactionLocksItsRow(Database database) {
		try (Nodes nodes = recorded(database)) {
			RecordingDataSource recording = recording(nodes);
			for (int i = 0; i < 2; i++) {
				nodes.first.shop().locked(nodes.first::count);
			}
			recording.clear();
			assertViewKeepsItsEntities(nodes);
			assertThat(recording.statements()).filteredOn((sql) -> sql.startsWith("UPDATE holdfast_lock"))
				.hasSize(1)
				.allMatch(RecordingDataSource::isLock);
		}
	}

	/** The view's context is not that of the transaction which is rolled back. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "CONNECTOR_J")
	void viewKeepsItsEntitiesWhenTheTransactionHasToWaitForALease(Database database) {
		try (Nodes nodes = recorded(database)) {
			RecordingDataSource recording = recording(nodes);
			nodes.first.shop().locked(nodes.first::count);
			CompletableFuture<?>[] waiting = new CompletableFuture<?>[1];
			nodes.second.shop().facade(() -> {
				recording.clear();
				waiting[0] = Nodes.async(() -> assertViewKeepsItsEntities(nodes));
				Nodes.await(() -> recording.statements().stream().anyMatch(RecordingDataSource::isLock));
			});
			waiting[0].join();
		}
	}

	private static Nodes recorded(Database database) {
		return new Nodes(database, Jpa.class, RecordingDataSource.Beans.class, RecordingDataSource.GUARDED);
	}

	private static RecordingDataSource recording(Nodes nodes) {
		return (RecordingDataSource) nodes.first.context().getBean(DataSource.class);
	}

	private static void assertViewKeepsItsEntities(Nodes nodes) {
		inView(nodes, (shared) -> {
			Item seen = shared.find(Item.class, 1);
			nodes.first.shop().locked(() -> shared.find(Item.class, 1).sold++);
			assertThat(shared.contains(seen)).isTrue();
			assertThat(shared.find(Item.class, 1).sold).isZero();
		});
		assertThat(nodes.soldItems()).isOne();
	}

	@Test
	void viewsArePutBackAlthoughTheContextsOfTheCallFail() {
		try (Nodes nodes = new Nodes(Database.H2, Nodes.ALONE, Jpa.class)) {
			Map<Object, EntityManagerHolder> views = Map.of(failing(), holder(false), failing(), holder(false));
			assertStay(views, () -> assertThatExceptionOfType(NoClassDefFoundError.class).isThrownBy(() -> nodes.first
				.shop()
				.facade(() -> views.forEach((factory,
						view) -> assertThat(TransactionSynchronizationManager.getResource(factory)).isNotSameAs(view))))
				.withMessage("of the provider"));
		}
	}

	@Test
	void viewsStayAlthoughOnlyTheFirstContextOfTheCallCanBeCreated() {
		try (Nodes nodes = new Nodes(Database.H2, Nodes.ALONE, Jpa.class)) {
			AtomicInteger created = new AtomicInteger();
			Function<String, Object> create = (method) -> {
				if (created.getAndIncrement() > 0) {
					throw new PersistenceException("no tenant");
				}
				return holder(false).getEntityManager();
			};
			assertStay(
					Map.of(proxy(EntityManagerFactory.class, create), holder(false),
							proxy(EntityManagerFactory.class, create), holder(false)),
					() -> assertThatExceptionOfType(PersistenceException.class)
						.isThrownBy(() -> nodes.first.shop().facade(created::get))
						.withMessage("no tenant"));
		}
	}

	private static void assertStay(Map<Object, EntityManagerHolder> views, Runnable call) {
		views.forEach(TransactionSynchronizationManager::bindResource);
		try {
			call.run();
			views.forEach((factory, view) -> assertThat(TransactionSynchronizationManager.getResource(factory))
				.isSameAs(view));
		}
		finally {
			views.keySet().forEach(TransactionSynchronizationManager::unbindResource);
		}
	}

	private static EntityManagerFactory failing() {
		return proxy(EntityManagerFactory.class, (method) -> holder(true).getEntityManager());
	}

	private static EntityManagerHolder holder(boolean fails) {
		return new EntityManagerHolder(proxy(EntityManager.class, (method) -> {
			if (!method.equals("unwrap")) {
				return method.equals("isOpen");
			}
			if (fails) {
				throw new NoClassDefFoundError("of the provider");
			}
			throw new PersistenceException();
		}));
	}

	private static <T> T proxy(Class<T> type, Function<String, Object> calls) {
		Object identity = new Object();
		return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] { type },
				(proxy, method, args) -> switch (method.getName()) {
					case "hashCode" -> identity.hashCode();
					case "equals" -> proxy == args[0];
					case "toString" -> type.getSimpleName();
					case "close" -> null;
					default -> calls.apply(method.getName());
				}));
	}

	@ParameterizedTest
	@CsvSource({ "H2, true", "MARIADB, true", "MARIADB, false", "POSTGRESQL, true" })
	void requestsDoNotWaitForEachOther(Database database, boolean autoCommit) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Jpa.class, "spring.datasource.hikari.maximum-pool-size=4",
				"spring.datasource.hikari.connection-timeout=60000", AUTO_COMMIT + autoCommit)) {
			CountDownLatch allHaveRead = new CountDownLatch(4);
			Nodes.together(4, (request) -> inView(nodes, (shared) -> {
				count(shared);
				allHaveRead.countDown();
				Nodes.await(allHaveRead);
				nodes.first.shop().locked(() -> shared.find(Item.class, 1).sold++);
			}));
			assertThat(nodes.soldItems()).isEqualTo(4);
		}
	}

	/**
	 * They would be written by a transaction that comes when the lock is another one's.
	 */
	@Test
	void changesWithoutATransactionAreRefusedAtTheEndOfTheLock() {
		try (Nodes nodes = new Nodes(Database.H2, Nodes.ALONE, Jpa.class)) {
			inView(nodes, (shared) -> {
				assertChangeIsRefused(nodes, shared);
				nodes.first.transaction().executeWithoutResult((status) -> shared.persist(new Item(3)));
			});
			assertThat(nodes.soldItems()).isZero();
		}
	}

	/**
	 * Hibernate takes an attribute without an {@code equals} method for changed, always.
	 */
	@Test
	void attributeThatAlwaysSeemsChangedIsNotAChange() {
		try (Nodes nodes = new Nodes(Database.H2, Nodes.ALONE, Jpa.class)) {
			inView(nodes, (shared) -> nodes.first.shop().locked(() -> {
				Item item = shared.find(Item.class, 1);
				item.label = new Label("red");
				item.sold++;
			}));
			assertThat(nodes.soldItems()).isOne();
			inView(nodes, (shared) -> assertChangeIsRefused(nodes, shared));
			assertThat(nodes.soldItems()).isOne();
		}
	}

	private static void assertChangeIsRefused(Nodes nodes, EntityManager shared) {
		assertThatIllegalStateException()
			.isThrownBy(() -> nodes.first.shop().facade(() -> shared.find(Item.class, 1).sold = 99))
			.withMessageContaining("Lock 'stock'")
			.withMessageContaining("@Transactional");
	}

	/** Where the isolation keeps no snapshot, nothing has to be rolled back. */
	@ParameterizedTest
	@CsvSource({ "POSTGRESQL, true", "POSTGRESQL, false", "MARIADB, true", "MARIADB, false" })
	void resultOfTheViewIsReadOnAfterALockedCall(Database database, boolean autoCommit) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Jpa.class, AUTO_COMMIT + autoCommit)) {
			for (int id = 3; id <= 50; id++) {
				nodes.execute("INSERT INTO item (id, sold) VALUES (" + id + ", 0)");
			}
			List<Integer> seen = new ArrayList<>();
			inView(nodes, (shared) -> {
				try (Stream<?> ids = shared.createNativeQuery("select id from item")
					.setHint("org.hibernate.fetchSize", 10)
					.getResultStream()) {
					ids.forEach((id) -> nodes.first.shop()
						.facade(() -> seen.add(nodes.first.jdbc()
							.queryForObject("SELECT id FROM item WHERE id = ?", Integer.class, id))));
				}
			});
			assertThat(seen).hasSize(50).doesNotHaveDuplicates();
			assertNoConnectionIsActive(nodes);
		}
	}

	/** That transaction is still bound then, so no call can take part in it. */
	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void callbackOfATransactionCallsALockedMethodThatBeginsANewOne(boolean view) {
		try (Nodes nodes = new Nodes(Database.H2, Nodes.ALONE, Jpa.class)) {
			EntityManager shared = nodes.first.context().getBean(EntityManager.class);
			Runnable take = () -> shared.find(Item.class, 1).sold++;
			Runnable request = () -> nodes.first.transaction().executeWithoutResult((status) -> {
				shared.find(Item.class, 1);
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {
					@Override
					public void afterCommit() {
						assertThatIllegalStateException().isThrownBy(() -> nodes.first.shop().locked(take))
							.withMessageContaining("REQUIRES_NEW");
						nodes.first.shop().inNewTransaction(take);
					}
				});
			});
			run(nodes, view, request);
			assertThat(nodes.soldItems()).isOne();
			assertNoConnectionIsActive(nodes);
		}
	}

	@Test
	void sessionThatIsFlushedByTheApplicationIsNotFlushed() {
		try (Nodes nodes = new Nodes(Database.H2, Nodes.ALONE, Jpa.class)) {
			EntityManager shared = nodes.first.context().getBean(EntityManager.class);
			nodes.first.shop().locked(() -> {
				shared.unwrap(Session.class).setHibernateFlushMode(FlushMode.MANUAL);
				shared.find(Item.class, 1).sold = -1;
			});
			assertThat(nodes.soldItems()).isZero();
		}
	}

	@ParameterizedTest
	@CsvSource({ "H2, false", "H2, true", "MARIADB, true", "POSTGRESQL, true" })
	void jdbcTransactionMayReadEntities(Database database, boolean view) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, TwoManagers.class, ByJdbc.class)) {
			EntityManager shared = nodes.first.context().getBean(EntityManager.class);
			run(nodes, view, () -> nodes.first.context().getBean(ByJdbc.class).locked(() -> {
				int sold = shared.find(Item.class, 1).sold;
				nodes.first.jdbc().update("UPDATE item SET sold = ? WHERE id = 1", sold + 1);
			}));
			assertThat(nodes.soldItems()).isOne();
		}
	}

	private static void run(Nodes nodes, boolean view, Runnable request) {
		if (view) {
			inView(nodes, (shared) -> request.run());
		}
		else {
			request.run();
		}
	}

	private static void count(EntityManager shared) {
		shared.createQuery("select count(i) from Item i", Long.class).getSingleResult();
	}

	private static void assertNoConnectionIsActive(Nodes nodes) {
		assertThat(nodes.first.context().getBean(HikariDataSource.class).getHikariPoolMXBean().getActiveConnections())
			.isZero();
	}

	static class ByJdbc {

		@DistributedLock("'stock'")
		@Transactional("jdbcManager")
		void locked(Runnable body) {
			body.run();
		}

	}

}
