package io.github.holdfast.chaos;

import jakarta.persistence.Column;
import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.Id;
import jakarta.persistence.Table;
import org.jspecify.annotations.Nullable;

import org.springframework.dao.DataRetrievalFailureException;
import org.springframework.orm.jpa.EntityManagerFactoryUtils;
import org.springframework.orm.jpa.EntityManagerHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Reads and writes {@link Accounts} as entities without {@code @Version}. */
record Entities(EntityManagerFactory factory, EntityManager entities) {

	long read(String account) {
		if (Accounts.hasRow(account)) {
			return stored(account).version;
		}
		Long version = this.entities
			.createQuery("SELECT max(s.version) FROM StoredSale s WHERE s.account = :account", Long.class)
			.setParameter("account", account)
			.getSingleResult();
		return (version != null) ? version : 0;
	}

	void write(Accounts.Sale sale) {
		if (Accounts.hasRow(sale.account())) {
			stored(sale.account()).version = sale.version();
		}
		StoredSale stored = new StoredSale();
		stored.id = sale.id();
		stored.account = sale.account();
		stored.version = sale.version();
		stored.token = sale.token();
		this.entities.persist(stored);
	}

	/** Hibernate finds nothing if a session breaks that is to be rolled back. */
	private StoredAccount stored(String account) {
		StoredAccount stored = this.entities.find(StoredAccount.class, account);
		if (stored == null) {
			throw new DataRetrievalFailureException("The session of the database is broken");
		}
		return stored;
	}

	/** Runs something as Spring runs a web request which has already read the account. */
	void inView(String account, Runnable request) {
		EntityManager view = this.factory.createEntityManager();
		TransactionSynchronizationManager.bindResource(this.factory, new EntityManagerHolder(view));
		try {
			read(account);
			request.run();
		}
		finally {
			TransactionSynchronizationManager.unbindResource(this.factory);
			EntityManagerFactoryUtils.closeEntityManager(view);
		}
	}

	@Entity(name = "StoredAccount")
	@Table(name = "account")
	static class StoredAccount {

		@Id
		private String id;

		private long version;

	}

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
