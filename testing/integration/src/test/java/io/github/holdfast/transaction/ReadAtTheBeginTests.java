package io.github.holdfast.transaction;

import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicReference;

import javax.sql.DataSource;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.session.SqlSessionFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.mybatis.spring.SqlSessionFactoryBean;
import org.mybatis.spring.SqlSessionTemplate;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.persistenceunit.PersistenceManagedTypes;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A listener reads an account when a transaction has begun, as that of the current user,
 * and the session remembers it: at READ COMMITTED, too, the body would find it as it was
 * before the first statement of the transaction.
 */
@Timeout(180)
class ReadAtTheBeginTests {

	@ParameterizedTest
	@CsvSource({ "H2,JPA", "MARIADB,JPA", "POSTGRESQL,JPA", "H2,MYBATIS", "MARIADB,MYBATIS", "POSTGRESQL,MYBATIS" })
	void lockIsOlderThanWhatTheSessionRemembers(TestDatabase database, Session session) {
		run(database, session, (account, other) -> {
			FutureTask<Void> payment = account.begin().then(other::pay, Duration.ofSeconds(1));
			account.pay();
			payment.get();
			assertThat(other.balance()).isEqualTo(94);
		});
	}

	@ParameterizedTest
	@CsvSource({ "H2,JPA", "MARIADB,JPA", "POSTGRESQL,JPA", "H2,MYBATIS", "MARIADB,MYBATIS", "POSTGRESQL,MYBATIS" })
	void paymentIsLostWithoutTheLock(TestDatabase database, Session session) {
		run(database, session, (account, other) -> {
			FutureTask<Void> payment = account.begin().then(other::payWithoutLock, Duration.ofMinutes(1));
			account.payWithoutLock();
			payment.get();
			assertThat(other.balance()).as("two were paid").isEqualTo(95);
		});
	}

	private static void run(TestDatabase database, Session session, Scenario scenario) {
		ApplicationContextRunner node = session.of(LockedApplication.jdbc(database.newDatabase()))
			.withBean(Begin.class)
			.withPropertyValues("holdfast.wait-time=30s", "spring.jpa.hibernate.ddl-auto=none");
		node.run((first) -> {
			JdbcTemplate jdbc = first.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE TABLE account (id integer NOT NULL PRIMARY KEY, balance integer NOT NULL)");
			jdbc.update("INSERT INTO account VALUES (1, 100)");
			node.run((second) -> {
				Account account = new Account(first);
				Account other = new Account(second);
				for (int i = 0; i < 2; i++) {
					account.pay();
					other.pay();
				}
				scenario.run(account, other);
			});
		});
	}

	private interface Scenario {

		void run(Account account, Account other) throws Exception;

	}

	private record Account(Accounts accounts, Begin begin) {

		Account(ApplicationContext node) {
			this(node.getBean(Accounts.class), node.getBean(Begin.class));
		}

		void pay() {
			this.accounts.pay();
		}

		void payWithoutLock() {
			this.accounts.payWithoutLock();
		}

		int balance() {
			return this.accounts.balance();
		}

	}

	private enum Session {

		JPA {

			@Override
			ApplicationContextRunner of(ApplicationContextRunner application) {
				return application.withConfiguration(AutoConfigurations.of(HibernateJpaAutoConfiguration.class))
					.withUserConfiguration(Entities.class);
			}

		},

		MYBATIS {

			@Override
			ApplicationContextRunner of(ApplicationContextRunner application) {
				return application.withUserConfiguration(Mappers.class);
			}

		};

		abstract ApplicationContextRunner of(ApplicationContextRunner application);

	}

	/**
	 * Reads the account, once, and lets another one pay for some time, who may have to
	 * wait for the lock.
	 */
	static class Begin implements TransactionExecutionListener {

		private final ObjectProvider<Accounts> accounts;

		private final AtomicReference<@Nullable FutureTask<Void>> next = new AtomicReference<>();

		private Duration time = Duration.ZERO;

		Begin(ObjectProvider<Accounts> accounts) {
			this.accounts = accounts;
		}

		FutureTask<Void> then(Runnable payment, Duration time) {
			FutureTask<Void> task = new FutureTask<>(payment, null);
			this.time = time;
			this.next.set(task);
			return task;
		}

		@Override
		public void afterBegin(TransactionExecution transaction, @Nullable Throwable beginFailure) {
			FutureTask<Void> payment = this.next.getAndSet(null);
			if (payment != null) {
				this.accounts.getObject().read();
				new Thread(payment).start();
				try {
					payment.get(this.time.toMillis(), TimeUnit.MILLISECONDS);
				}
				catch (TimeoutException ex) {
					// It waits for the lock
				}
				catch (InterruptedException | ExecutionException ex) {
					throw new IllegalStateException(ex);
				}
			}
		}

	}

	abstract static class Accounts {

		private final JdbcTemplate jdbc;

		Accounts(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		abstract int read();

		abstract void write(int balance);

		@DistributedLock(key = "'account'")
		@Transactional
		public void pay() {
			write(read() - 1);
		}

		@Transactional
		public void payWithoutLock() {
			write(read() - 1);
		}

		int balance() {
			Integer balance = this.jdbc.queryForObject("SELECT balance FROM account", Integer.class);
			return (balance != null) ? balance : -1;
		}

		JdbcTemplate jdbc() {
			return this.jdbc;
		}

	}

	static class EntityAccounts extends Accounts {

		private final EntityManager entities;

		EntityAccounts(JdbcTemplate jdbc, EntityManager entities) {
			super(jdbc);
			this.entities = entities;
		}

		@Override
		int read() {
			return this.entities.find(AccountEntity.class, 1).balance;
		}

		@Override
		void write(int balance) {
			this.entities.find(AccountEntity.class, 1).balance = balance;
		}

	}

	static class MappedAccounts extends Accounts {

		private final AccountMapper mapper;

		MappedAccounts(JdbcTemplate jdbc, AccountMapper mapper) {
			super(jdbc);
			this.mapper = mapper;
		}

		@Override
		int read() {
			return this.mapper.balance();
		}

		@Override
		void write(int balance) {
			jdbc().update("UPDATE account SET balance = ?", balance);
		}

	}

	@Entity(name = "account")
	static class AccountEntity {

		@Id
		private int id;

		private int balance;

	}

	interface AccountMapper {

		@Select("SELECT balance FROM account")
		int balance();

	}

	@Configuration(proxyBeanMethods = false)
	static class Entities {

		@Bean
		static PersistenceManagedTypes persistenceManagedTypes() {
			return PersistenceManagedTypes.of(AccountEntity.class.getName());
		}

		@Bean
		Accounts accounts(JdbcTemplate jdbc, EntityManager entities) {
			return new EntityAccounts(jdbc, entities);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Mappers {

		@Bean
		SqlSessionFactoryBean sessions(DataSource dataSource) {
			SqlSessionFactoryBean factory = new SqlSessionFactoryBean();
			factory.setDataSource(dataSource);
			return factory;
		}

		@Bean
		Accounts accounts(JdbcTemplate jdbc, SqlSessionFactory sessions) {
			sessions.getConfiguration().addMapper(AccountMapper.class);
			return new MappedAccounts(jdbc, new SqlSessionTemplate(sessions).getMapper(AccountMapper.class));
		}

	}

}
