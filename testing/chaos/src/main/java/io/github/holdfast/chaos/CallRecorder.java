package io.github.holdfast.chaos;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.support.TransactionSynchronizationManager;

import io.github.holdfast.LockContext;

/**
 * Notes what happens in one call, on its thread.
 */
final class CallRecorder {

	private final String id;

	private final Step step;

	private final int node;

	private final long started = System.nanoTime();

	private final List<Touch> touches = new ArrayList<>();

	private final List<Call.Hold> holds = new ArrayList<>();

	private final BitSet decided = new BitSet();

	private final BitSet plain = new BitSet();

	private int runs;

	private int sales;

	private boolean finished;

	private @Nullable LockContext outer;

	CallRecorder(String id, Step step, int node) {
		this.id = id;
		this.step = step;
		this.node = node;
	}

	Step step() {
		return this.step;
	}

	/**
	 * Runs the code that is protected by the locks that are held now.
	 */
	void underLock(Runnable body) {
		this.runs++;
		this.finished = false;
		// What an earlier attempt of an optimistic call did was rolled back
		decide(0, Touch.Fate.ROLLED_BACK);
		long from = System.nanoTime();
		try {
			body.run();
			this.finished = true;
		}
		finally {
			addHolds(from);
		}
	}

	/**
	 * Runs code under a lock in which it takes another one.
	 */
	void underOuterLock(Runnable code) {
		this.outer = LockContext.current().orElse(null);
		long from = System.nanoTime();
		try {
			code.run();
		}
		finally {
			this.outer = null;
			addHolds(from);
		}
	}

	private void addHolds(long from) {
		long to = System.nanoTime();
		LockContext.current()
			.ifPresent((lock) -> lock.keys()
				.forEach((key) -> token(lock, key)
					.ifPresent((token) -> this.holds.add(new Call.Hold(key, token, from, to)))));
	}

	/**
	 * Runs one of the transactions of this call, of which the call knows how it ended.
	 */
	<T> T transaction(Supplier<T> transaction) {
		int first = this.touches.size();
		this.finished = false;
		try {
			T result = transaction.get();
			decide(first, Touch.Fate.COMMITTED);
			return result;
		}
		catch (RuntimeException ex) {
			decide(first, Ending.of(ex, this.finished).fate());
			throw ex;
		}
	}

	/**
	 * Runs a transaction on the connection of the one around it. What becomes of it
	 * becomes of all that the call has done there before.
	 */
	void borrowed(Runnable transaction) {
		this.finished = false;
		try {
			transaction.run();
			decide(0, Touch.Fate.COMMITTED);
			this.finished = false;
		}
		catch (RuntimeException ex) {
			decide(0, Ending.of(ex, this.finished).fate());
			throw ex;
		}
	}

	/**
	 * The code in a transaction has come to its end: what fails now is the COMMIT.
	 */
	void finished() {
		this.finished = true;
	}

	/**
	 * Notes that an account was read.
	 */
	void read(String account, String key, long version) {
		this.touches.add(new Touch(null, account, token(key), version, Touch.Fate.UNKNOWN));
	}

	/**
	 * Notes a sale, before it is written.
	 */
	Touch sell(String account, String key, long version) {
		Touch touch = new Touch(this.id + "/" + this.sales++, account, token(key), version, Touch.Fate.UNKNOWN);
		this.touches.add(touch);
		return touch;
	}

	/**
	 * Notes a sale that is written without a transaction: nobody takes it back.
	 */
	Touch sellPlainly(String account, String key, long version) {
		this.plain.set(this.touches.size());
		return sell(account, key, version);
	}

	/**
	 * Makes a call whose outcome nobody tells this one.
	 */
	void apart(Runnable code) {
		int first = this.touches.size();
		Touch.Fate fate = Touch.Fate.UNKNOWN;
		try {
			code.run();
			fate = Touch.Fate.COMMITTED;
		}
		finally {
			decide(first, fate);
		}
	}

	/**
	 * Makes a call that is refused before it runs.
	 */
	void refused(Runnable code) {
		int before = this.runs;
		try {
			code.run();
		}
		catch (IllegalStateException ex) {
			if (this.runs == before) {
				throw new OrderRefusedException("refused");
			}
			throw ex;
		}
	}

	/**
	 * Runs code whose changes are taken back to a savepoint.
	 */
	void takenBack(Runnable code) {
		int first = this.touches.size();
		code.run();
		decide(first, Touch.Fate.ROLLED_BACK);
	}

	/**
	 * Nobody tells this call what becomes of what a callback has done.
	 */
	void late(Runnable callback) {
		int first = this.touches.size();
		try {
			callback.run();
		}
		finally {
			decide(first, Touch.Fate.UNKNOWN);
		}
	}

	private void decide(int first, Touch.Fate fate) {
		for (int i = first; i < this.touches.size(); i++) {
			if (!this.decided.get(i)) {
				boolean stays = this.plain.get(i) && fate == Touch.Fate.ROLLED_BACK;
				this.touches.set(i, this.touches.get(i).with(stays ? Touch.Fate.UNKNOWN : fate));
				this.decided.set(i);
			}
		}
	}

	private @Nullable Long token(String key) {
		return Stream.concat(LockContext.current().stream(), Stream.ofNullable(this.outer))
			.filter((lock) -> lock.keys().contains(key))
			.findFirst()
			.flatMap((lock) -> token(lock, key))
			.orElse(null);
	}

	/**
	 * The order of tokens is promised to those who exclude each other.
	 */
	private Optional<Long> token(LockContext lock, String key) {
		return (this.step.kind() == Step.Kind.OPTIMISTIC || this.step.kind() == Step.Kind.SHARED) ? Optional.empty()
				: Optional.of(lock.fencingToken(key));
	}

	/**
	 * Works for a while. Whoever is interrupted late then writes, commits and gives its
	 * lock back on a thread that is interrupted.
	 */
	void think() {
		try {
			TimeUnit.MILLISECONDS.sleep(this.step.think());
			if (this.step.isInterruptedLate()) {
				Thread.currentThread().interrupt();
			}
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new OrderRefusedException("interrupted");
		}
	}

	/**
	 * The call has ended.
	 * @param failure what it has thrown, or {@code null}
	 */
	Call end(@Nullable Throwable failure) {
		long ended = System.nanoTime();
		Ending ending = Ending.of(failure, this.finished);
		decide(0, ending.fate());
		return new Call(this.id, this.step.kind(), this.node, this.started, ended, ending, this.runs, this.touches,
				this.holds, left(), (failure != null) ? describe(failure) : "");
	}

	private static String describe(Throwable failure) {
		StringBuilder text = new StringBuilder(failure.toString());
		for (Throwable cause = failure.getCause(); cause != null; cause = cause.getCause()) {
			text.append(" <- ").append(cause);
		}
		return text.toString();
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
