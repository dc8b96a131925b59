package io.github.holdfast;

import java.time.Duration;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import org.springframework.transaction.TransactionManager;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.util.Assert;

import io.github.holdfast.core.LockCapabilities;
import io.github.holdfast.core.LockEngine;
import io.github.holdfast.core.LockSpec;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.core.UnlockedCallException;

/**
 * Runs code under a distributed lock: the one path that annotated methods and direct
 * callers share.
 *
 * <pre class="code">
 * locks.run("inventory:" + sku, () -&gt; ...);
 *
 * try (LockTemplate.Scope scope = locks.withWaitTime(Duration.ZERO).acquire("nightly-report")) {
 *     ...
 * }</pre>
 *
 * <p>
 * A key that the current call chain holds already is not acquired again. Several keys are
 * acquired in sorted order, all or none, within one wait time. Leases are renewed while
 * the body runs. An instance is immutable and safe for use by many threads; the
 * {@code with...} methods return copies that share the backend and the renewal threads.
 *
 * @since 0.2.0
 */
public final class LockTemplate {

	static {
		new Access();
	}

	private static final int MAX_KEYS = 1000;

	private final @Nullable LockEngine engine;

	private final Function<String, @Nullable Overrides> overrides;

	private final LockSpec spec;

	private final LockSpec effective;

	private final boolean enabled;

	private LockTemplate(@Nullable LockEngine engine, Function<String, @Nullable Overrides> overrides, LockSpec spec) {
		this.engine = engine;
		this.overrides = overrides;
		this.spec = spec;
		Overrides own = overrides.apply(spec.name());
		this.effective = (own != null) ? own.applyTo(spec) : spec;
		this.enabled = own == null || own.enabled();
	}

	/**
	 * Create a template that waits 5 seconds, leases for 30 seconds and prefixes its keys
	 * with {@code lock:}.
	 * @param backend supplies the backend, at the first acquisition
	 * @param listeners supplies the listeners, at the first acquisition
	 */
	public LockTemplate(Supplier<LockBackend> backend, Supplier<List<LockListener>> listeners) {
		this(backend, (name) -> null, listeners);
	}

	/**
	 * Create a template whose locks are kept by several backends, depending on their
	 * names. Calls under one name do not see the locks of another backend as their own.
	 * @param backend supplies the backend, at the first acquisition
	 * @param others gives the backend of the locks of one name, or {@code null} for that
	 * of all others; is asked with each acquisition, and answers for a name always the
	 * same
	 * @param listeners supplies the listeners, at the first acquisition
	 */
	public LockTemplate(Supplier<LockBackend> backend, Function<String, @Nullable LockBackend> others,
			Supplier<List<LockListener>> listeners) {
		this(new LockEngine(backend, others, listeners), (name) -> null, LockSpec.DEFAULT);
	}

	/**
	 * Create a template that runs every body without a lock.
	 * @return the template
	 */
	public static LockTemplate unlocked() {
		return new LockTemplate(null, (name) -> null, LockSpec.DEFAULT);
	}

	/**
	 * Returns a copy with overrides, which win over what this and the other
	 * {@code with...} methods say, before and after, for the names that have some.
	 * @param overrides gives the overrides of a name, or {@code null}; is asked with each
	 * copy
	 * @return a copy
	 */
	public LockTemplate withOverrides(Function<String, @Nullable Overrides> overrides) {
		return new LockTemplate(this.engine, overrides, this.spec);
	}

	/**
	 * Returns a copy for locks of another name.
	 * @param name the name for logs, meters and overrides; default {@code LockTemplate}
	 * @return a copy
	 */
	public LockTemplate withName(String name) {
		return with(this.spec.withName(name));
	}

	/**
	 * Returns a copy with another prefix of the stored keys.
	 * @param keyPrefix the prefix; default {@code lock:}
	 * @return a copy
	 */
	public LockTemplate withKeyPrefix(String keyPrefix) {
		return with(this.spec.withKeyPrefix(keyPrefix));
	}

	/**
	 * Returns a copy with another wait time.
	 * @param waitTime how long to wait for all keys together; zero means one attempt
	 * @return a copy
	 */
	public LockTemplate withWaitTime(Duration waitTime) {
		return with(this.spec.withTimes(this.spec.times().overriddenBy(waitTime, null, null, null)));
	}

	/**
	 * Returns a copy with another lease time.
	 * @param leaseTime how soon others get the lock after this JVM has died
	 * @return a copy
	 */
	public LockTemplate withLeaseTime(Duration leaseTime) {
		return with(this.spec.withTimes(this.spec.times().overriddenBy(null, leaseTime, null, null)));
	}

	/**
	 * Returns a copy with a limit to the renewal.
	 * @param maxHoldTime how long leases are renewed, or {@code null} for as long as the
	 * body runs
	 * @return a copy
	 */
	public LockTemplate withMaxHoldTime(@Nullable Duration maxHoldTime) {
		LockSpec.Times times = this.spec.times();
		return with(this.spec
			.withTimes(new LockSpec.Times(times.waitTime(), times.leaseTime(), maxHoldTime, times.minHoldTime())));
	}

	/**
	 * Returns a copy whose locks are not free before a time after their acquisition, so
	 * that a node whose clock is late does not run a scheduled job once more.
	 * @param minHoldTime how long the lock is held at least, also when the body fails, or
	 * {@code null} for as long as the body runs
	 * @return a copy
	 */
	public LockTemplate withMinHoldTime(@Nullable Duration minHoldTime) {
		LockSpec.Times times = this.spec.times();
		return with(this.spec
			.withTimes(new LockSpec.Times(times.waitTime(), times.leaseTime(), times.maxHoldTime(), minHoldTime)));
	}

	/**
	 * Returns a copy with another mode. With {@code OPTIMISTIC} bodies may run several
	 * times, and {@code acquire} is refused.
	 * @param mode how the locks are shared; default {@code EXCLUSIVE}
	 * @return a copy
	 */
	public LockTemplate withMode(LockRequest.Mode mode) {
		return with(this.spec.withMode(mode));
	}

	/**
	 * Returns a copy with or without fair order.
	 * @param fair whether waiters on all nodes are served in the order of their arrival;
	 * default {@code false}
	 * @return a copy
	 */
	public LockTemplate withFair(boolean fair) {
		return with(this.spec.withFair(fair));
	}

	/**
	 * Returns a copy that tells how the transaction of the body relates to one that is
	 * already running; {@code REQUIRES_NEW} and {@code NOT_SUPPORTED} are allowed there,
	 * if the body's transaction is one of the manager that has begun the running one.
	 * @param propagation the propagation, or {@code null} if the body declares none
	 * @return a copy
	 */
	public LockTemplate withPropagation(@Nullable Propagation propagation) {
		return withPropagation(propagation, () -> null);
	}

	/**
	 * Returns a copy that tells how the transaction of the body relates to one that is
	 * already running, and whose it is: a manager suspends only transactions of its own.
	 * @param propagation the propagation, or {@code null} if the body declares none
	 * @param transactionManager supplies the manager of the body's transaction, or
	 * {@code null} for that of the running one; asked inside of running transactions only
	 * @return a copy
	 */
	public LockTemplate withPropagation(@Nullable Propagation propagation,
			Supplier<? extends @Nullable TransactionManager> transactionManager) {
		return with(
				this.spec.withBody(new LockSpec.Body(propagation, transactionManager, this.spec.body().transaction())));
	}

	private LockTemplate with(LockSpec spec) {
		return new LockTemplate(this.engine, this.overrides, spec);
	}

	/**
	 * Calls a body under the lock of one key.
	 * @param <T> the type of the result
	 * @param <E> what the body throws
	 * @param key the key
	 * @param body the code to call
	 * @return what the body returned
	 * @throws E what the body threw
	 * @throws LockNotAcquiredException if the lock was not acquired; the body has not
	 * run, or has been rolled back in each attempt of an optimistic lock
	 * @throws LockBackendException if the store failed; the body has not run
	 */
	public <T extends @Nullable Object, E extends Throwable> T execute(String key, Body<T, E> body) throws E {
		return execute(List.of(key), body);
	}

	/**
	 * Calls a body under the locks of several keys.
	 * @param <T> the type of the result
	 * @param <E> what the body throws
	 * @param keys the keys, in any order, at most 1000 different ones; none means that no
	 * lock is needed
	 * @param body the code to call
	 * @return what the body returned
	 * @throws E what the body threw
	 * @throws LockNotAcquiredException if a lock was not acquired; the body has not run,
	 * or has been rolled back in each attempt of an optimistic lock
	 * @throws LockBackendException if the store failed; the body has not run
	 * @throws IllegalArgumentException if a key is blank, or there are too many
	 */
	public <T extends @Nullable Object, E extends Throwable> T execute(Collection<String> keys, Body<T, E> body)
			throws E {
		checkKeys(keys);
		if (this.engine == null || !this.enabled || keys.isEmpty()) {
			return body.call();
		}
		try {
			return this.engine.execute(keys, this.effective, body::call);
		}
		catch (UnlockedCallException ex) {
			return body.call();
		}
	}

	/**
	 * Runs a body under the lock of one key.
	 * @param <E> what the body throws
	 * @param key the key
	 * @param body the code to run
	 * @throws E what the body threw
	 * @throws LockNotAcquiredException if the lock was not acquired; the body has not
	 * run, or has been rolled back in each attempt of an optimistic lock
	 * @throws LockBackendException if the store failed; the body has not run
	 */
	public <E extends Throwable> void run(String key, Action<E> body) throws E {
		execute(List.of(key), () -> {
			body.run();
			return null;
		});
	}

	/**
	 * Acquires the lock of one key, for a try-with-resources statement.
	 * @param key the key
	 * @return closes by releasing the lock
	 * @throws LockNotAcquiredException if the lock was not acquired
	 * @throws UnsupportedOperationException if the mode is {@code OPTIMISTIC}, or one
	 * that the backend does not have
	 * @throws LockBackendException if the store failed
	 */
	public Scope acquire(String key) {
		return acquire(List.of(key));
	}

	/**
	 * Acquires the locks of several keys, for a try-with-resources statement.
	 * @param keys the keys, in any order, at most 1000 different ones; none means that no
	 * lock is needed
	 * @return closes by releasing the locks
	 * @throws LockNotAcquiredException if a lock was not acquired; none is held then
	 * @throws LockBackendException if the store failed
	 * @throws IllegalArgumentException if a key is blank, or there are too many
	 */
	public Scope acquire(Collection<String> keys) {
		checkKeys(keys);
		if (this.engine == null || !this.enabled || keys.isEmpty()) {
			return () -> {
			};
		}
		if (this.effective.mode() == LockRequest.Mode.OPTIMISTIC) {
			throw new UnsupportedOperationException("Lock '" + this.effective.name()
					+ "' is optimistic and needs a body that can run again: call execute or run");
		}
		try {
			return this.engine.acquire(keys, this.effective)::close;
		}
		catch (UnlockedCallException ex) {
			return () -> {
			};
		}
	}

	private static void checkKeys(Collection<String> keys) {
		keys.forEach((key) -> Assert.hasText(key, "Lock key must not be blank"));
		if (keys.size() > MAX_KEYS) {
			int distinct = new HashSet<>(keys).size();
			Assert.isTrue(distinct <= MAX_KEYS, () -> distinct + " locks at once are more than the " + MAX_KEYS
					+ " allowed: lock fewer in one call, or take one lock for all of them");
		}
	}

	/**
	 * Checks that the backend can do what this template asks for.
	 * @throws UnsupportedOperationException if it cannot
	 * @throws IllegalArgumentException if it asks for what goes with no backend
	 */
	public void checkSupported() {
		if (this.engine != null && this.enabled) {
			this.engine.checkSupported(this.effective);
		}
	}

	/**
	 * What the locks of this template ask of a backend, beyond exclusive ones in any
	 * order.
	 * @return the capabilities
	 */
	public Set<LockBackend.Capability> requiredCapabilities() {
		return LockCapabilities.required(this.effective);
	}

	/**
	 * What the calls of this template and all of its copies hold and wait for in this
	 * JVM, each as it is at about this moment. Asks no store. A lock that is held for an
	 * outer call appears once, one whose release is under way not at all.
	 * @return one entry for each key of a call
	 * @since 0.2.0
	 */
	public List<LockUse> uses() {
		return (this.engine != null) ? this.engine.uses() : List.of();
	}

	/**
	 * Code that runs under a lock and returns a value.
	 *
	 * @param <T> the type of the result
	 * @param <E> what it throws
	 */
	@FunctionalInterface
	public interface Body<T extends @Nullable Object, E extends Throwable> {

		/**
		 * Does the work.
		 * @return the result
		 * @throws E on failure
		 */
		T call() throws E;

	}

	/**
	 * Code that runs under a lock.
	 *
	 * @param <E> what it throws
	 */
	@FunctionalInterface
	public interface Action<E extends Throwable> {

		/**
		 * Does the work.
		 * @throws E on failure
		 */
		void run() throws E;

	}

	/**
	 * What is configured for the locks of one name, whatever the code says.
	 *
	 * @param enabled whether locks are taken; if not, bodies run without them
	 * @param waitTime how long to wait, or {@code null} for what the code says
	 * @param leaseTime how soon others get the lock after this JVM has died, or
	 * {@code null} for what the code says
	 * @param maxHoldTime how long leases are renewed, or {@code null} for what the code
	 * says
	 * @param minHoldTime how long the lock is held at least, or {@code null} for what the
	 * code says
	 */
	public record Overrides(boolean enabled, @Nullable Duration waitTime, @Nullable Duration leaseTime,
			@Nullable Duration maxHoldTime, @Nullable Duration minHoldTime) {

		public Overrides {
			LockSpec.checkTimes("", waitTime, leaseTime, maxHoldTime, minHoldTime);
		}

		private LockSpec applyTo(LockSpec spec) {
			return spec.withTimes(
					spec.times().overriddenBy(this.waitTime, this.leaseTime, this.maxHoldTime, this.minHoldTime));
		}

	}

	/**
	 * Holds locks until it is closed: in a try-with-resources statement, around the
	 * transactions that belong to it. A transaction that began under a scope is rolled
	 * back if the scope is closed before its commit. A scope that is never closed stays
	 * on its thread, renewed, and once its lock is lost, refuses all commits there.
	 */
	@FunctionalInterface
	public interface Scope extends AutoCloseable {

		/**
		 * Releases the locks. Does nothing when called again.
		 * @throws LockOverlapException if a lock was lost and no guarded commit was made
		 * under it
		 */
		@Override
		void close();

	}

	/**
	 * What users have no use for.
	 */
	private static final class Access extends TemplateAccess {

		@Override
		protected @Nullable LockEngine engineOf(LockTemplate template) {
			return template.engine;
		}

		@Override
		protected LockTemplate withSpecOf(LockTemplate template, UnaryOperator<LockSpec> change) {
			return template.with(change.apply(template.spec));
		}

	}

}
