package io.github.holdfast.chaos;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

import io.github.holdfast.LockContext;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

/** Notes what happens in one call, on its thread. */
final class CallRecorder {

	private final String id;

	private final Step step;

	private final int node;

	private final long started = System.nanoTime();

	private final Map<String, Long> tokens = new HashMap<>();

	private final List<Touch> touches = new ArrayList<>();

	private final List<Call.Hold> holds = new ArrayList<>();

	private final BitSet decided = new BitSet();

	private int runs;

	private int sales;

	private boolean inner;

	private boolean finished;

	private long readAt;

	CallRecorder(String id, Step step, int node) {
		this.id = id;
		this.step = step;
		this.node = node;
	}

	Step step() {
		return this.step;
	}

	/** Runs the code that is protected by the locks that are held now. */
	void underLock(Runnable body) {
		this.runs++;
		this.finished = false;
		// What an earlier attempt of an optimistic call did was rolled back
		decide(0, Touch.Fate.ROLLED_BACK);
		underOuterLock(body);
		finished();
	}

	void underOuterLock(Runnable code) {
		LockContext lock = (this.step.kind() != Step.Kind.OPTIMISTIC) ? LockContext.current().orElse(null) : null;
		if (lock == null) {
			code.run();
			return;
		}
		lock.keys().forEach((key) -> this.tokens.put(key, lock.fencingToken(key)));
		long from = System.nanoTime();
		try {
			code.run();
		}
		finally {
			long to = System.nanoTime();
			lock.keys().forEach((key) -> this.holds.add(new Call.Hold(key, from, to)));
		}
	}

	/**
	 * Runs one of the transactions of this call, of which the call knows how it ended.
	 */
	void transaction(Runnable transaction) {
		int first = this.touches.size();
		this.finished = false;
		try {
			transaction.run();
			decide(first, Touch.Fate.COMMITTED);
			this.finished = false;
		}
		catch (RuntimeException ex) {
			decide(first, Ending.of(ex, this.finished).fate);
			throw ex;
		}
	}

	void inner(Runnable transaction) {
		this.inner = true;
		try {
			transaction(transaction);
		}
		finally {
			this.inner = false;
		}
	}

	/** Runs code whose changes are taken back to a savepoint. */
	void takenBack(Runnable code) {
		int first = this.touches.size();
		code.run();
		decide(first, Touch.Fate.ROLLED_BACK);
	}

	/** The code in a transaction has come to its end: what fails now is the COMMIT. */
	void finished() {
		this.finished = true;
		for (int i = this.decided.nextClearBit(0); i < this.touches.size(); i = this.decided.nextClearBit(i + 1)) {
			this.touches.set(i, this.touches.get(i).done());
		}
	}

	long reading(Supplier<Long> read) {
		this.readAt = System.nanoTime();
		return read.get();
	}

	void read(String account, long version) {
		touch(null, account, account, version);
	}

	Accounts.Sale sell(String account, String key, long version) {
		String sale = this.id + "/" + this.sales++ + (this.inner ? Accounts.INNER : "");
		touch(sale, account, key, version);
		return new Accounts.Sale(account, version + 1, this.tokens.get(key), sale);
	}

	private void touch(@Nullable String sale, String account, String key, long version) {
		this.touches
			.add(new Touch(sale, account, this.tokens.get(key), version, Touch.Fate.UNKNOWN, this.readAt, 0, 0));
	}

	private void decide(int first, Touch.Fate fate) {
		for (int i = first; i < this.touches.size(); i++) {
			if (!this.decided.get(i)) {
				this.touches.set(i, this.touches.get(i).ended(fate));
				this.decided.set(i);
			}
		}
	}

	/** Works for a while. A call that is interrupted late goes on interrupted. */
	void think() {
		try {
			TimeUnit.MILLISECONDS.sleep(this.step.think());
			if (this.step.kind() == Step.Kind.INTERRUPT && this.step.isVariant()) {
				Thread.currentThread().interrupt();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new Ending.RefusedException("interrupted");
		}
	}

	/** The call has ended, and has thrown that or nothing. */
	Call end(@Nullable Throwable failure) {
		long ended = System.nanoTime();
		Ending ending = Ending.of(failure, this.finished);
		decide(0, ending.fate);
		StringBuilder detail = new StringBuilder();
		for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
			detail.append(detail.isEmpty() ? "" : " <- ").append(cause);
		}
		return new Call(this.id, this.step.kind(), this.node, this.started, ended, ending, this.runs, this.touches,
				this.holds, left(), detail.toString());
	}

	private static String left() {
		List<String> left = new ArrayList<>();
		LockContext.current().ifPresent((lock) -> left.add("the lock of " + lock.keys()));
		if (TransactionSynchronizationManager.isSynchronizationActive()) {
			left.add("synchronizations");
		}
		TransactionSynchronizationManager.getResourceMap()
			.keySet()
			.forEach((key) -> left.add(key.getClass().getName()));
		return String.join(", ", left);
	}

}
