package io.github.holdfast.chaos;

import java.util.function.Supplier;

import org.springframework.dao.ConcurrencyFailureException;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.TemplateAccess;

/**
 * Transactions of JPA in which one of JDBC begins on the same connection, as both
 * managers have one {@code DataSource}. What ends the inner one ends all that the outer
 * one has done so far.
 */
final class Borrowing {

	private static final String NAME = "borrowing";

	/** The end of the names of accounts that are written by inner transactions. */
	private static final String INNER = "/inner";

	private static final int LONGER = 4;

	private final LockTemplate locks;

	private final Accounts accounts;

	private final Entities entities;

	private final TransactionTemplate outer;

	private final TransactionTemplate inner;

	private final TransactionTemplate innerReadOnly;

	Borrowing(LockTemplate locks, Accounts accounts, Entities entities, PlatformTransactionManager jpaManager,
			PlatformTransactionManager jdbcManager) {
		this.locks = locks;
		this.accounts = accounts;
		this.entities = entities;
		this.outer = new TransactionTemplate(jpaManager);
		this.outer.setName(NAME);
		this.inner = new TransactionTemplate(jdbcManager);
		this.innerReadOnly = new TransactionTemplate(jdbcManager);
		this.innerReadOnly.setReadOnly(true);
	}

	/**
	 * A method never claims its lock any more when it was seen to have an inner
	 * transaction. So each call is the first one in which this method has one: after
	 * others without it, or at once.
	 */
	void sell(Step step, CallRecorder call) {
		String key = step.key();
		BodyTransaction body = BodyTransaction.claiming(NAME);
		LockTemplate method = TemplateAccess.withTransaction(this.locks, body);
		if (step.claims()) {
			method.run(key, () -> this.outer.executeWithoutResult((status) -> BodyTransaction.begun()));
		}
		method.run(key, () -> call.transaction(() -> refused(() -> this.outer.execute((status) -> {
			BodyTransaction.begun();
			call.underLock(() -> sellAround(step, call));
			return key;
		}))));
	}

	/**
	 * Spring lets the outer transaction go on after its claim was rolled back with the
	 * inner one.
	 */
	private static <T> T refused(Supplier<T> transaction) {
		try {
			return transaction.get();
		}
		catch (ConcurrencyFailureException ex) {
			if (ex.getClass() == ConcurrencyFailureException.class) {
				throw new OrderRefusedException("the claim was rolled back");
			}
			throw ex;
		}
	}

	private void sellAround(Step step, CallRecorder call) {
		String key = step.key();
		long version = this.entities.read(key);
		if (!step.borrowsLate()) {
			borrow(step, call);
			// Long enough for somebody else, if the lock is lost
			for (int i = 0; i < LONGER; i++) {
				call.think();
			}
		}
		call.think();
		Touch touch = call.sell(key, key, version);
		this.entities.write(key, version + 1, touch.fencingToken(), String.valueOf(touch.sale()));
		if (step.borrowsLate()) {
			this.entities.flush();
			borrow(step, call);
		}
	}

	private void borrow(Step step, CallRecorder call) {
		String key = step.key();
		switch (step.kind()) {
			case BORROWED_LOOK -> borrow(this.innerReadOnly, call, () -> call.read(key, key, this.accounts.read(key)));
			case BORROWED_SALE -> borrow(this.inner, call, () -> sellInside(key, call));
			default -> {
				try {
					borrow(this.inner, call, () -> {
						sellInside(key, call);
						throw new OrderRefusedException("refused");
					});
				}
				catch (OrderRefusedException ex) {
					// The outer transaction goes on
				}
			}
		}
	}

	private void sellInside(String key, CallRecorder call) {
		String account = key + INNER;
		long version = this.accounts.read(account);
		Touch touch = call.sell(account, key, version);
		this.accounts.write(account, version + 1, touch.fencingToken(), String.valueOf(touch.sale()));
	}

	private static void borrow(TransactionTemplate transaction, CallRecorder call, Runnable code) {
		call.borrowed(() -> transaction.executeWithoutResult((status) -> {
			code.run();
			call.finished();
		}));
	}

}
