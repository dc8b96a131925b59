package io.github.holdfast.chaos;

import java.util.function.Supplier;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.jspecify.annotations.Nullable;

import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/**
 * Reads and writes {@link Accounts} as entities without {@code @Version}.
 */
final class Entities {

	private final EntityManagerFactory factory;

	private final EntityManager entities;

	Entities(EntityManagerFactory factory, EntityManager entities) {
		this.factory = factory;
		this.entities = entities;
	}

	/**
	 * Reads the version of an account.
	 */
	long read(String account) {
		if (Accounts.hasRow(account)) {
			return this.entities.find(StoredAccount.class, account).version;
		}
		Long version = this.entities
			.createQuery("SELECT max(s.version) FROM StoredSale s WHERE s.account = :account", Long.class)
			.setParameter("account", account)
			.getSingleResult();
		return (version != null) ? version : 0;
	}

	/**
	 * Writes the version of an account, and the sale.
	 */
	void write(String account, long version, @Nullable Long token, String sale) {
		if (Accounts.hasRow(account)) {
			this.entities.find(StoredAccount.class, account).version = version;
		}
		StoredSale stored = new StoredSale();
		stored.id = sale;
		stored.account = account;
		stored.version = version;
		stored.token = token;
		this.entities.persist(stored);
	}

	/**
	 * Runs something as Spring runs a web request: in one persistence context, which has
	 * already read the account.
	 */
	<T> T inView(String account, Supplier<T> request) {
		EntityManager view = this.factory.createEntityManager();
		TransactionSynchronizationManager.bindResource(this.factory, new EntityManagerHolder(view));
		try {
			read(account);
			return request.get();
		}
		finally {
			TransactionSynchronizationManager.unbindResource(this.factory);
			EntityManagerFactoryUtils.closeEntityManager(view);
		}
	}

	/**
	 * An account that has a row.
	 */
	@Entity(name = "StoredAccount")
	@Table(name = "account")
	static class StoredAccount {

		@Id
		private String id;

		private long version;

	}

	/**
	 * A sale.
	 */
	@Entity(name = "StoredSale")
	@Table(name = "sale")
	static class StoredSale {

		@Id
		private String id;

		@Column(nullable = false)
		private String account;

		private long version;

		private @Nullable Long token;

	}

}
