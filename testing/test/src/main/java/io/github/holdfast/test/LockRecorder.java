package io.github.holdfast.test;

import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;

import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;

/**
 * Records locked calls and commits. A lock that a thread holds just before and just after
 * a commit was held during the commit. Of the listeners of a transaction manager, this
 * one comes before the one that checks the locks.
 */
final class LockRecorder implements LockListener, TransactionExecutionListener {

	final List<Hold> holds = new CopyOnWriteArrayList<>();

	final List<String> attempts = new CopyOnWriteArrayList<>();

	final List<String> busy = new CopyOnWriteArrayList<>();

	final List<TransactionExecution> commits = new CopyOnWriteArrayList<>();

	final Set<String> lostAtNextCommit = ConcurrentHashMap.newKeySet();

	private final ThreadLocal<List<Hold>> committing = ThreadLocal.withInitial(List::of);

	private final Consumer<String> takeAway;

	LockRecorder(Consumer<String> takeAway) {
		this.takeAway = takeAway;
	}

	@Override
	public void onAttempt(Call call) {
		this.attempts.addAll(call.keys());
	}

	@Override
	public void onAcquired(Call call, Duration waitTime) {
		call.keys().forEach((key) -> this.holds.add(new Hold(call.id(), key)));
	}

	@Override
	public void onNotAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
		if (cause instanceof LockNotAcquiredException busy && (reason == Reason.BUSY || reason == Reason.SKIPPED)) {
			this.busy.add(busy.key());
		}
	}

	@Override
	public void onLost(Call call, String key, Duration holdTime) {
		held((hold) -> hold.call == call.id() && hold.key.equals(key)).forEach((hold) -> hold.state = State.LOST);
	}

	@Override
	public void onReleased(Call call, Outcome outcome, Duration holdTime) {
		held((hold) -> hold.call == call.id()).forEach((hold) -> hold.state = State.RELEASED);
	}

	private Stream<Hold> held(Predicate<Hold> filter) {
		return this.holds.stream().filter((hold) -> hold.state == State.HELD).filter(filter);
	}

	@Override
	public void beforeCommit(TransactionExecution transaction) {
		List<Hold> held = held((hold) -> hold.thread == Thread.currentThread()).toList();
		held.stream().map((hold) -> hold.key).filter(this.lostAtNextCommit::remove).forEach(this.takeAway);
		if (transaction.isNewTransaction()) {
			this.committing.set(held);
		}
	}

	@Override
	public void afterCommit(TransactionExecution transaction, @Nullable Throwable commitFailure) {
		// A manager that is customized twice tells twice
		if (transaction.isNewTransaction() && commitFailure == null && !this.commits.contains(transaction)) {
			this.commits.add(transaction);
			this.committing.get().stream().filter((hold) -> hold.state == State.HELD).forEach((hold) -> hold.commits++);
		}
	}

	void clear() {
		List.of(this.attempts, this.busy, this.commits, this.lostAtNextCommit).forEach(Collection::clear);
		this.holds.removeIf((hold) -> hold.state != State.HELD);
	}

	/** A lock that a call of the application got. */
	static final class Hold {

		final long call;

		final String key;

		final Thread thread = Thread.currentThread();

		volatile State state = State.HELD;

		volatile int commits;

		Hold(long call, String key) {
			this.call = call;
			this.key = key;
		}

		@Override
		public String toString() {
			return "%s after %d commits under it".formatted(this.state, this.commits);
		}

	}

	/** The state of a lock. */
	enum State {

		HELD, RELEASED, LOST

	}

}
