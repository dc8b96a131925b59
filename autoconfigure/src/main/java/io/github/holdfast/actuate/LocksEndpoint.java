package io.github.holdfast.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.function.Supplier;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockSnapshot;
import io.github.holdfast.core.LockGuard.Protection;
import io.github.holdfast.core.LockManager;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;

/**
 * {@link Endpoint @Endpoint} that shows the locks that this node holds and waits for,
 * looks up the holder of a lock in the store, and takes a lock away from a holder that
 * hangs. Keys are shown as they are.
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
public class LocksEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(LocksEndpoint.class);

	private final LockManager manager;

	private final LockBackend backend;

	private final String keyPrefix;

	private final Supplier<Map<String, Protection>> protections;

	/**
	 * Create an endpoint.
	 * @param manager the locks of this node
	 * @param backend the backend
	 * @param keyPrefix the text that the stored keys begin with
	 * @param protections supplies how the transactions of each locked method are bound to
	 * its locks, by class and method
	 */
	public LocksEndpoint(LockManager manager, LockBackend backend, String keyPrefix,
			Supplier<Map<String, Protection>> protections) {
		this.manager = manager;
		this.backend = backend;
		this.keyPrefix = keyPrefix;
		this.protections = protections;
	}

	/**
	 * The locks that this node holds and waits for. Does no I/O.
	 * @return the locks
	 */
	@ReadOperation
	public LocksDescriptor locks() {
		return new LocksDescriptor(held((key) -> true), waiting((key) -> true), this.protections.get());
	}

	/**
	 * The holder of one lock as recorded in the store, and the calls of this node.
	 * @param key the key as the application wrote it
	 * @return the lock
	 */
	@ReadOperation
	public LockDescriptor lock(@Selector(match = Selector.Match.ALL_REMAINING) String[] key) {
		String joined = String.join("/", key);
		return new LockDescriptor(joined, this.backend.holder(this.keyPrefix + joined), held(joined::equals),
				waiting(joined::equals));
	}

	/**
	 * Takes a lock away from its holder.
	 * @param key the key as the application wrote it
	 * @return the outcome
	 */
	@DeleteOperation
	public ForceReleaseDescriptor forceRelease(@Selector(match = Selector.Match.ALL_REMAINING) String[] key) {
		String joined = String.join("/", key);
		Outcome outcome;
		try {
			outcome = this.manager.forceRelease(this.keyPrefix + joined) ? Outcome.RELEASED : Outcome.NOT_HELD;
		}
		catch (UnsupportedOperationException ex) {
			outcome = Outcome.NOT_SUPPORTED;
		}
		logger.warn("Lock {} was released by force: {}", LockException.quote(joined), outcome);
		return new ForceReleaseDescriptor(joined, outcome);
	}

	private List<CallDescriptor> held(Predicate<String> keys) {
		return calls((snapshot) -> snapshot.holdTime() != null && keys.test(snapshot.key()));
	}

	private List<CallDescriptor> waiting(Predicate<String> keys) {
		return calls((snapshot) -> snapshot.holdTime() == null && keys.test(snapshot.key()));
	}

	private List<CallDescriptor> calls(Predicate<LockSnapshot> filter) {
		return this.manager.snapshots().stream().filter(filter).map(CallDescriptor::of).toList();
	}

	/**
	 * The locks of this node.
	 *
	 * @param held the locks that are held
	 * @param waiting the locks that are waited for
	 * @param protections how transactions are bound to locks, by class and method
	 */
	public record LocksDescriptor(List<CallDescriptor> held, List<CallDescriptor> waiting,
			Map<String, Protection> protections) implements OperationResponseBody {

	}

	/**
	 * One lock.
	 *
	 * @param key the key
	 * @param holder the holder in the store, or {@code null} if the lock is free or the
	 * store does not know
	 * @param held the calls of this node that hold it
	 * @param waiting the calls of this node that wait for it
	 */
	public record LockDescriptor(String key, @Nullable LockHolder holder, List<CallDescriptor> held,
			List<CallDescriptor> waiting) implements OperationResponseBody {

	}

	/**
	 * A key that a call of this node holds or waits for.
	 *
	 * @param name the name of the lock
	 * @param key the key
	 * @param mode how the lock is shared
	 * @param thread the name of the thread
	 * @param since when the call got its locks or began to wait, by the clock of this
	 * node
	 * @param waitTime how long the call has waited
	 * @param holdTime how long it has held its locks, or {@code null} if it waits
	 * @param remaining how long this node can prove that it holds the lock, or
	 * {@code null} if it waits or the lock does not expire
	 */
	public record CallDescriptor(String name, String key, LockMode mode, String thread, Instant since,
			Duration waitTime, @Nullable Duration holdTime, @Nullable Duration remaining) {

		static CallDescriptor of(LockSnapshot snapshot) {
			Duration holdTime = snapshot.holdTime();
			return new CallDescriptor(snapshot.name(), snapshot.key(), snapshot.mode(), snapshot.thread(),
					Instant.now().minus((holdTime != null) ? holdTime : snapshot.waitTime()), snapshot.waitTime(),
					holdTime, snapshot.remaining());
		}

	}

	/**
	 * The outcome of a forced release.
	 *
	 * @param key the key
	 * @param outcome the outcome
	 */
	public record ForceReleaseDescriptor(String key, Outcome outcome) implements OperationResponseBody {

	}

	/**
	 * The outcome of a forced release.
	 */
	public enum Outcome {

		/** The holder has lost the lock. */
		RELEASED,

		/** There was no lease. */
		NOT_HELD,

		/** The backend cannot take locks away. */
		NOT_SUPPORTED

	}

}
