package io.github.holdfast.chaos;

import java.util.List;

import org.springframework.context.ApplicationEventPublisher;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionPhase;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockTemplate;

/**
 * The annotated methods of the business.
 */
class Shop {

	/** The end of the names of accounts that are written when a transaction has ended. */
	private static final String LATE = "/late";

	private final Accounts accounts;

	private final Batch batch;

	private final Entities entities;

	private final Tenants tenants;

	private final LockTemplate locks;

	private final ApplicationEventPublisher events;

	private final TransactionTemplate apart;

	private final TransactionTemplate savepoint;

	Shop(Accounts accounts, Batch batch, Entities entities, Tenants tenants, LockTemplate locks,
			ApplicationEventPublisher events, PlatformTransactionManager transactionManager) {
		this.accounts = accounts;
		this.batch = batch;
		this.entities = entities;
		this.tenants = tenants;
		this.locks = locks;
		this.events = events;
		this.apart = new TransactionTemplate(transactionManager);
		this.apart.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
		this.savepoint = new TransactionTemplate(transactionManager);
		this.savepoint.setPropagationBehavior(TransactionDefinition.PROPAGATION_NESTED);
	}

	@DistributedLock(key = "#p0")
	@Transactional
	public void sell(String key, CallRecorder call) {
		call.underLock(() -> sell(key, key, call));
	}

	@DistributedLock(key = "#p0")
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	public void sellApart(String key, CallRecorder call) {
		call.underLock(() -> sell(key, key, call));
	}

	@DistributedLock(key = "#p0")
	@Transactional
	public void sellAll(List<String> keys, CallRecorder call) {
		call.underLock(() -> keys.forEach((key) -> sell(key, key, call)));
	}

	@DistributedLock(key = "#p0")
	@Transactional
	public void sellAndPublish(String key, CallRecorder call) {
		call.underLock(() -> {
			long version = this.accounts.read(key + LATE);
			sell(key, key, call);
			this.events.publishEvent(new Sold(key, version, call));
		});
	}

	/**
	 * Writes on the connection of the transaction that has just ended.
	 */
	@TransactionalEventListener
	public void note(Sold sold) {
		sellLate(sold.key(), sold.version(), sold.call());
	}

	@DistributedLock(key = "#p0")
	@Transactional
	public void sellWithInner(String key, CallRecorder call) {
		call.underLock(() -> {
			sell(key, key, call);
			call.transaction(() -> this.apart.execute((status) -> {
				sell(key, key + "/inner", call);
				call.finished();
				return key;
			}));
		});
	}

	@DistributedLock(key = "#p0")
	@Transactional
	public void sellWithSavepoint(String key, CallRecorder call) {
		call.underLock(() -> {
			sell(key, key, call);
			call.takenBack(() -> this.savepoint.executeWithoutResult((status) -> {
				sell(key, key, call);
				status.setRollbackOnly();
			}));
		});
	}

	@DistributedLock(key = "#p0")
	@Transactional
	public void sellAndRefuse(String key, CallRecorder call) {
		call.underLock(() -> {
			sell(key, key, call);
			throw new OrderRefusedException("refused");
		});
	}

	@DistributedLock(key = "#p0")
	@Transactional(readOnly = true)
	public void look(String key, CallRecorder call) {
		call.underLock(() -> look(key, key, call));
	}

	@DistributedLock(key = "#p0", minHoldTime = "50ms")
	@Transactional
	public void sellAndStay(String key, CallRecorder call) {
		call.underLock(() -> sell(key, key, call));
	}

	@DistributedLock(key = "#p0")
	@Transactional
	public void sellInBatch(String key, CallRecorder call) {
		call.underLock(() -> {
			long version = this.accounts.read(key);
			call.think();
			Touch touch = call.sell(key, key, version);
			this.batch.write(key, version + 1, touch.fencingToken(), String.valueOf(touch.sale()));
		});
	}

	@DistributedLock(key = "#p0")
	@Transactional
	public void sellAndCall(String key, CallRecorder call) {
		call.underLock(() -> {
			sell(key, key, call);
			this.events.publishEvent(new Called(key, call));
		});
	}

	/**
	 * Takes the next lock, which works apart from the transaction that has ended, and
	 * writes without one. The last lock is held already: what is written under it goes to
	 * the connection of that transaction.
	 */
	@TransactionalEventListener
	public void callLocked(Called called) {
		String key = called.key();
		CallRecorder call = called.call();
		String next = PlanSource.next(key);
		if (next.equals(key)) {
			call.late(() -> this.locks.run(key, () -> sell(key, key + LATE, call)));
		}
		else {
			call.apart(() -> this.locks.run(next, () -> sellPlainly(next, call)));
			call.think();
		}
	}

	@DistributedLock(key = "#p0")
	@Transactional
	public void sellAndComplete(String key, CallRecorder call) {
		call.underLock(() -> {
			long version = this.accounts.read(key + LATE);
			sell(key, key, call);
			this.events.publishEvent(new Completed(key, version, call));
		});
	}

	/**
	 * Writes on the connection of the transaction that has just ended, whether or not it
	 * has committed.
	 */
	@TransactionalEventListener(phase = TransactionPhase.AFTER_COMPLETION)
	public void noteEnd(Completed completed) {
		sellLate(completed.key(), completed.version(), completed.call());
	}

	@DistributedLock(key = "#p0")
	@Transactional(Managers.JPA)
	public void sellEntity(String key, CallRecorder call) {
		call.underLock(() -> {
			long version = this.entities.read(key);
			call.think();
			Touch touch = call.sell(key, key, version);
			this.entities.write(key, version + 1, touch.fencingToken(), String.valueOf(touch.sale()));
		});
	}

	/**
	 * Uses the connection that the caller's transaction has bound, unless the call is
	 * refused.
	 */
	@DistributedLock(key = "#p0")
	@Transactional(transactionManager = Managers.OTHER, propagation = Propagation.REQUIRES_NEW)
	public void sellByOther(String key, CallRecorder call) {
		call.underLock(() -> sell(key, key, call));
	}

	@DistributedLock(key = "#p0")
	@Transactional(Tenants.MANAGER)
	public void sellForTenant(String key, int tenant, CallRecorder call) {
		call.underLock(() -> this.tenants.sell(key, tenant, call));
	}

	@DistributedLock(key = "#p0")
	@Transactional(readOnly = true)
	public void sellReadOnly(String key, CallRecorder call) {
		call.underLock(() -> sell(key, key, call));
	}

	/**
	 * Read, think, write: each statement commits by itself.
	 */
	void sellPlainly(String key, CallRecorder call) {
		String account = key + Accounts.PLAIN;
		long version = this.accounts.read(account);
		call.think();
		Touch touch = call.sellPlainly(account, key, version);
		this.accounts.write(account, version + 1, touch.fencingToken(), String.valueOf(touch.sale()));
	}

	/**
	 * Writes what was read in the transaction, after its end.
	 */
	private void sellLate(String key, long version, CallRecorder call) {
		call.late(() -> {
			call.think();
			Touch touch = call.sell(key + LATE, key, version);
			this.accounts.write(key + LATE, version + 1, touch.fencingToken(), String.valueOf(touch.sale()));
		});
	}

	/**
	 * Read, think, write: in the transaction that runs.
	 */
	void sell(String key, String account, CallRecorder call) {
		sell(key, account, call, () -> {
		});
	}

	/**
	 * Read, do something else, think, write: in the transaction that runs.
	 */
	void sell(String key, String account, CallRecorder call, Runnable afterRead) {
		long version = this.accounts.read(account);
		afterRead.run();
		call.think();
		Touch touch = call.sell(account, key, version);
		this.accounts.write(account, version + 1, touch.fencingToken(), String.valueOf(touch.sale()));
	}

	/**
	 * Read, think, and read again: in the transaction that runs.
	 */
	void look(String key, String account, CallRecorder call) {
		call.read(account, key, this.accounts.read(account));
		call.think();
		call.read(account, key, this.accounts.read(account));
	}

	/**
	 * Something was sold.
	 *
	 * @param key the key of the lock
	 * @param version the version of the account that is written late
	 * @param call the call
	 */
	record Sold(String key, long version, CallRecorder call) {

	}

	/**
	 * Something was sold, and another lock is needed.
	 *
	 * @param key the key of the lock that is held
	 * @param call the call
	 */
	record Called(String key, CallRecorder call) {

	}

	/**
	 * Something may have been sold.
	 *
	 * @param key the key of the lock
	 * @param version the version of the account that is written late
	 * @param call the call
	 */
	record Completed(String key, long version, CallRecorder call) {

	}

}
