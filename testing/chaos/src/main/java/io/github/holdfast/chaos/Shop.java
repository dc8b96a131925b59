package io.github.holdfast.chaos;

import java.util.List;

import io.github.holdfast.DistributedLock;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.dao.DataAccessException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Isolation;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** The annotated methods, and what they share with the bodies of templates. */
class Shop {

	/** The end of the names of accounts that are written around an inner transaction. */
	private static final String OUTER = "/outer";

	private final Accounts accounts;

	private final ObjectProvider<Entities> entities;

	private final EarlyReader earlyReader;

	private final TransactionTemplate apart;

	private final TransactionTemplate savepoint;

	Shop(Accounts accounts, ObjectProvider<Entities> entities, EarlyReader earlyReader,
			PlatformTransactionManager transactionManager) {
		this.accounts = accounts;
		this.entities = entities;
		this.earlyReader = earlyReader;
		this.apart = new TransactionTemplate(transactionManager);
		this.apart.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.savepoint = new TransactionTemplate(transactionManager);
		this.savepoint.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
	}

	@DistributedLock("#p0")
	@Transactional
	public void run(String key, CallRecorder call, Runnable body) {
		call.underLock(body);
	}

	@DistributedLock("#p0")
	@Transactional(isolation = Isolation.READ_COMMITTED)
	public void sellCommitted(String key, CallRecorder call) {
		call.underLock(() -> sell(key, key, call));
	}

	@DistributedLock("#p0")
	@Transactional(isolation = Isolation.REPEATABLE_READ)
	public void sellRepeatable(String key, CallRecorder call) {
		call.underLock(() -> sell(key, key, call));
	}

	@DistributedLock("#p0")
	@Transactional(isolation = Isolation.SERIALIZABLE)
	public void sellSerializable(String key, CallRecorder call) {
		call.underLock(() -> sell(key, key, call));
	}

	@DistributedLock("#p0")
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	public void sellApart(String key, CallRecorder call) {
		call.underLock(() -> sell(key, key, call));
	}

	@DistributedLock("#p0")
	@Transactional
	public void sellAll(List<String> keys, CallRecorder call) {
		call.underLock(() -> keys.forEach((key) -> sell(key, key, call)));
	}

	@DistributedLock("#p0")
	@Transactional(readOnly = true)
	public void look(String key, CallRecorder call) {
		call.underLock(() -> {
			call.read(key, call.reading(() -> this.accounts.read(key)));
			call.think();
			call.read(key, call.reading(() -> this.accounts.read(key)));
		});
	}

	@DistributedLock("#p0")
	@Transactional(NodeApplication.JPA)
	public void sellEntity(String key, CallRecorder call) {
		call.underLock(() -> {
			long version = call.reading(() -> this.entities.getObject().read(key));
			call.think();
			this.entities.getObject().write(call.sell(key, key, version));
		});
	}

	/** Read, think, write: in the transaction that runs. */
	void sell(String key, String account, CallRecorder call) {
		long version = call.reading(() -> this.accounts.read(account));
		call.think();
		write(key, account, version, call);
	}

	void write(String key, String account, long version, CallRecorder call) {
		this.accounts.write(call.sell(account, key, version));
	}

	/** Commits a sale while the transaction that runs goes on, and now and then fails. */
	void sellInside(String key, CallRecorder call) {
		call.think();
		call.inner(() -> this.apart.executeWithoutResult((status) -> {
			sell(key, key, call);
			call.finished();
		}));
		// The outer transaction must see what the inner one has committed
		sell(key, (call.step().think() % 2 == 0) ? key : key + OUTER, call);
		if (call.step().think() % 3 == 0) {
			throw new Ending.RefusedException("refused");
		}
	}

	/** Reads, goes on whatever happens where it meets others, and writes. */
	void sellAcross(String key, CallRecorder call) {
		long version = call.reading(() -> this.accounts.read(key));
		try {
			this.accounts.cross(call.step().think() / 2 % 2);
		}
		catch (DataAccessException ex) {
			// A deadlock: InnoDB and H2 have rolled everything back, and go on
		}
		call.think();
		write(key, key, version, call);
	}

	void sellWithSavepoint(String key, CallRecorder call) {
		sell(key, key, call);
		call.takenBack(() -> this.savepoint.executeWithoutResult((status) -> {
			sell(key, key, call);
			status.setRollbackOnly();
		}));
	}

	/** Writes what a listener has read when the transaction began. */
	void sellWhatWasRead(String key, CallRecorder call) {
		long version = this.earlyReader.result();
		call.think();
		write(key, key, version, call);
	}

}
