package io.github.holdfast.transaction;

import java.util.concurrent.CompletableFuture;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import jakarta.persistence.PersistenceContext;
import jakarta.persistence.PersistenceContextType;
import jakarta.persistence.PreUpdate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/**
 * An extended persistence context joins the transaction of its thread with one of its
 * own, on another connection, which Spring commits after the commit that is checked.
 */
@Tag("F91")
class ExtendedContextTests {

	private static final Runnable NOTHING = () -> {
	};

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void commitOfItsOwnIsRefusedAtFence(TestDatabase database) {
		run(database, CommitGuardLevel.FENCE, (service, jdbc) -> {
			Runnable supersede = () -> CompletableFuture.runAsync(() -> {
				jdbc.update("UPDATE holdfast_lock SET epoch = epoch + 1, owner = NULL, expires_at = 0");
				jdbc.update("UPDATE goods SET quantity = quantity - 1 WHERE sku = 'A'");
			}).join();
			assertThatIllegalStateException().isThrownBy(() -> service.take("A", supersede))
				.withMessageContaining("extended persistence context");
			assertThat(service.quantity("A")).isEqualTo(100);
		});
	}

	@Test
	void commitComesUnderTheLockAtLease() {
		run(TestDatabase.H2, CommitGuardLevel.LEASE, (service, jdbc) -> {
			service.take("A", NOTHING);
			assertThat(service.quantity("A")).isEqualTo(99);
		});
	}

	@Test
	void lockIsNotTakenWhileOneWaitsForAnOuterCommit() {
		run(TestDatabase.H2, CommitGuardLevel.LEASE, (service, jdbc) -> {
			assertThatIllegalStateException().isThrownBy(() -> service.inTransaction(() -> {
				service.find("A");
				service.takeInNewTransaction("A");
			})).withMessageContaining("extended persistence context");
			assertThatIllegalStateException().isThrownBy(() -> service.inScopeWithoutTransaction(() -> {
				service.find("A");
				service.takeInNewTransaction("A");
			})).withMessageContaining("extended persistence context");
			assertThat(service.quantity("A")).isEqualTo(100);
		});
	}

	@Test
	void changesThatAScopeWouldCommitAfterTheReleaseAreDropped() {
		run(TestDatabase.H2, CommitGuardLevel.LEASE, (service, jdbc) -> {
			assertThatIllegalStateException()
				.isThrownBy(() -> service.inScopeWithoutTransaction(() -> service.takeWithoutTransaction("A")))
				.withMessageContaining("extended persistence context");
			assertThat(service.quantity("A")).isEqualTo(100);
		});
	}

	private static void run(TestDatabase database, CommitGuardLevel level, Check check) {
		LockedApplication.jdbc(database.newDatabase())
			.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
			.withPropertyValues("spring.jpa.hibernate.ddl-auto=create", "holdfast.commit-guard=" + level)
			.withBean(PersistenceManagedTypes.class, () -> PersistenceManagedTypes.of(Goods.class.getName()))
			.withBean(Service.class)
			.run((context) -> {
				JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
				jdbc.update("INSERT INTO goods (sku, quantity) VALUES ('A', 100)");
				check.run(context.getBean(Service.class), jdbc);
			});
	}

	private interface Check {

		void run(Service service, JdbcTemplate jdbc);

	}

	static class Service {

		private final JdbcTemplate jdbc;

		@PersistenceContext(type = PersistenceContextType.EXTENDED)
		private EntityManager entities;

		Service(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		int quantity(String sku) {
			Integer quantity = this.jdbc.queryForObject("SELECT quantity FROM goods WHERE sku = ?", Integer.class, sku);
			return (quantity != null) ? quantity : -1;
		}

		Goods find(String sku) {
			return this.entities.find(Goods.class, sku);
		}

		@Transactional
		public void inTransaction(Runnable work) {
			work.run();
		}

		@Transactional(propagation = Propagation.SUPPORTS)
		public void inScopeWithoutTransaction(Runnable work) {
			work.run();
		}

		@DistributedLock(key = "#sku")
		@Transactional
		public void take(String sku, Runnable beforeItsCommit) {
			Goods goods = find(sku);
			goods.quantity--;
			goods.whenUpdated = beforeItsCommit;
		}

		@DistributedLock(key = "#sku")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void takeInNewTransaction(String sku) {
			find(sku).quantity--;
		}

		@DistributedLock(key = "#sku")
		public void takeWithoutTransaction(String sku) {
			find(sku).quantity--;
		}

	}

	@Entity(name = "goods")
	static class Goods {

		@Id
		private String sku = "";

		private int quantity;

		private transient Runnable whenUpdated = NOTHING;

		@PreUpdate
		void updating() {
			this.whenUpdated.run();
		}

	}

}
