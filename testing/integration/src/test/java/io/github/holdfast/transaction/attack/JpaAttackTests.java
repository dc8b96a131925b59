package io.github.holdfast.transaction.attack;

import java.util.Objects;
import java.util.function.Consumer;

import javax.sql.DataSource;

import com.zaxxer.hikari.HikariDataSource;
import io.github.holdfast.LockTemplate;
import jakarta.persistence.AttributeConverter;
import jakarta.persistence.Convert;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.PreUpdate;
import jakarta.persistence.Table;
import org.hibernate.annotations.Filter;
import org.hibernate.annotations.FilterDef;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.CannotCreateTransactionException;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

/** Attacks by persistence contexts, and by the connection that JPA shares. */
@Timeout(180)
class JpaAttackTests {

	/** Attack 10. Red without the refusal in {@code beforeBegin}. */
	@ParameterizedTest
	@EnumSource
	void managerOfJdbcInsideOfJpaReleasesTheLock(Database database) {
		try (Nodes nodes = new Nodes(database, TwoManagers.class)) {
			TransactionTemplate jdbc = new TransactionTemplate(
					nodes.first.context().getBean("jdbcManager", JdbcTransactionManager.class));
			assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> nodes.first.shop().locked(() -> {
				int before = nodes.first.count();
				jdbc.executeWithoutResult((status) -> nodes.first.jdbc().update("UPDATE item SET sold = sold + 1"));
				Nodes.async(() -> nodes.second.shop().locked(nodes.second::sell)).join();
				nodes.first.insertAfter(before);
			})).withMessageContaining("jdbcManager").withMessageContaining("Use one transaction manager for both");
			assertThat(nodes.sales()).isEmpty();
			jdbc.executeWithoutResult((status) -> nodes.first.sell());
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/**
	 * Drivers refuse a rollback in auto-commit mode, and pools throw such connections
	 * away.
	 */
	@ParameterizedTest
	@EnumSource
	@ExtendWith(OutputCaptureExtension.class)
	void connectionOfARollbackGoesBackToItsPool(Database database, CapturedOutput output) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Jpa.class)) {
			assertThatIllegalStateException().isThrownBy(() -> nodes.first.shop().locked(() -> {
				throw new IllegalStateException("sold out");
			}));
			assertThat(output).doesNotContain("marked as broken");
		}
	}

	/** Spring does not roll back then, nor does Hibernate when it closes the session. */
	@ParameterizedTest
	@EnumSource
	void callbackFailsBeforeTheCommitOfJpaIsChecked(Database database) {
		try (Nodes nodes = new Nodes(database, Jpa.class)) {
			assertThatExceptionOfType(CannotCreateTransactionException.class)
				.isThrownBy(() -> nodes.first.shop().locked(() -> {
					nodes.first.sell();
					TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

						@Override
						public void beforeCommit(boolean readOnly) {
							throw new CannotCreateTransactionException("no connection for an inner one");
						}

					});
				}));
			Nodes.async(() -> nodes.second.shop().locked(nodes.second::sell)).join();
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/** Attack 11. Red without a persistence context of the call's own. */
	@ParameterizedTest
	@EnumSource
	void openViewShowsWhatItReadBeforeTheLock(Database database) {
		try (Nodes nodes = new Nodes(database, Jpa.class)) {
			inView(nodes, (shared) -> {
				assertThat(shared.find(Item.class, 1).sold).isZero();
				Nodes
					.async(() -> nodes.second.shop()
						.locked(() -> nodes.second.jdbc().update("UPDATE item SET sold = 1 WHERE id = 1")))
					.join();
				nodes.first.shop().locked(() -> shared.find(Item.class, 1).sold++);
			});
			assertThat(nodes.soldItems()).isEqualTo(2);
		}
	}

	/**
	 * Attack 11. Red if the view keeps its connection, as calls wait for a second one.
	 */
	@ParameterizedTest
	@EnumSource
	void openViewKeepsItsConnectionDuringTheLockedCall(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Jpa.class)) {
			HikariDataSource pool = nodes.first.context().getBean(HikariDataSource.class);
			inView(nodes, (shared) -> {
				shared.find(Item.class, 1);
				nodes.first.shop().locked(() -> {
					nodes.first.sell();
					assertThat(pool.getHikariPoolMXBean().getActiveConnections()).isOne();
				});
			});
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	/** Attack 11. Red without the look at what is not flushed. */
	@ParameterizedTest
	@EnumSource
	void openViewWritesItsChangesAfterTheLockedCall(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Jpa.class)) {
			inView(nodes, (shared) -> {
				shared.find(Item.class, 1).sold++;
				assertThatExceptionOfType(IllegalStateException.class)
					.isThrownBy(() -> nodes.first.shop().locked(nodes.first::sell))
					.withMessageContaining("not flushed");
			});
			assertThat(nodes.sales()).isEmpty();
		}
	}

	/** Red if the context of the outer call keeps what it has read. */
	@ParameterizedTest
	@EnumSource
	void innerLockedCallWritesWhatTheOuterOneHasRead(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Jpa.class)) {
			LockTemplate locks = nodes.first.context().getBean(LockTemplate.class);
			inView(nodes, (shared) -> locks.run("stock", () -> {
				assertThat(shared.find(Item.class, 1).sold).isZero();
				locks.run("audit", () -> take(nodes, shared));
				take(nodes, shared);
			}));
			assertThat(nodes.soldItems()).isEqualTo(2);
		}
	}

	private static void take(Nodes nodes, EntityManager entities) {
		nodes.first.transaction().executeWithoutResult((status) -> entities.find(Item.class, 1).sold++);
	}

	/** As with a repository of Spring Data, which reads in a transaction of its own. */
	@ParameterizedTest
	@EnumSource
	void changesThatNoTransactionHasWrittenAreRefusedAfterOneThatOnlyReads(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Jpa.class)) {
			LockTemplate locks = nodes.first.context().getBean(LockTemplate.class);
			TransactionTemplate reading = new TransactionTemplate(
					Objects.requireNonNull(nodes.first.transaction().getTransactionManager()));
			reading.setReadOnly(true);
			inView(nodes,
					(shared) -> assertThatIllegalStateException()
						.isThrownBy(() -> locks.run("stock",
								() -> reading.<Item>execute((status) -> shared.find(Item.class, 1)).sold++))
						.withMessageContaining("changes of entities that no transaction has written"));
			assertThat(nodes.soldItems()).isZero();
		}
	}

	/** JPA rolls back without asking the database, so the lease need not run out. */
	@ParameterizedTest
	@EnumSource
	void leaseIsGivenBackIfAnEntityIsInvalid(Database database) {
		try (Nodes nodes = new Nodes(database, Nodes.ALONE, Jpa.class, "holdfast.jdbc.mode=lease")) {
			EntityManager entities = SharedEntityManagerCreator
				.createSharedEntityManager(nodes.first.context().getBean(EntityManagerFactory.class));
			assertThatExceptionOfType(TransactionSystemException.class)
				.isThrownBy(() -> nodes.first.shop().locked(() -> entities.find(Item.class, 1).sold = -1))
				.withRootCauseInstanceOf(InvalidItemException.class);
			assertThat(nodes.leases()).isZero();
			assertThat(nodes.soldItems()).isZero();
		}
	}

	static void inView(Nodes nodes, Consumer<EntityManager> request) {
		EntityManagerFactory entities = nodes.first.context().getBean(EntityManagerFactory.class);
		try (EntityManager view = entities.createEntityManager()) {
			TransactionSynchronizationManager.bindResource(entities, new EntityManagerHolder(view));
			request.accept(SharedEntityManagerCreator.createSharedEntityManager(entities));
		}
		finally {
			TransactionSynchronizationManager.unbindResource(entities);
		}
	}

	@Configuration(proxyBeanMethods = false)
	@ImportAutoConfiguration(HibernateJpaAutoConfiguration.class)
	static class Jpa {

		@Bean
		static PersistenceManagedTypes persistenceManagedTypes() {
			return PersistenceManagedTypes.of(Item.class.getName());
		}

		@Bean
		@Primary
		JpaTransactionManager transactionManager(EntityManagerFactory entities) {
			return new JpaTransactionManager(entities);
		}

	}

	@Configuration(proxyBeanMethods = false)
	@Import(Jpa.class)
	static class TwoManagers {

		@Bean
		JdbcTransactionManager jdbcManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	/** Each context has the filter, also that of a locked call. */
	@Entity(name = "Item")
	@Table(name = "item")
	@FilterDef(name = "sane", autoEnabled = true, defaultCondition = "sold >= 0")
	@Filter(name = "sane")
	static class Item {

		@Id
		private Integer id;

		int sold;

		@Convert(converter = LabelConverter.class)
		@Nullable Label label;

		Item() {
		}

		Item(Integer id) {
			this.id = id;
		}

		@PreUpdate
		void check() throws InvalidItemException {
			if (this.sold < 0) {
				throw new InvalidItemException();
			}
		}

	}

	/** Spring cannot translate it. */
	static final class InvalidItemException extends Exception {

		private static final long serialVersionUID = 1L;

	}

	/** Has no {@code equals}. */
	static final class Label {

		private final String text;

		Label(String text) {
			this.text = text;
		}

	}

	static class LabelConverter implements AttributeConverter<Label, String> {

		@Override
		public @Nullable String convertToDatabaseColumn(@Nullable Label label) {
			return (label != null) ? label.text : null;
		}

		@Override
		public @Nullable Label convertToEntityAttribute(@Nullable String text) {
			return (text != null) ? new Label(text) : null;
		}

	}

}
