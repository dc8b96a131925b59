package io.github.holdfast.actuate;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Supplier;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.boot.actuate.audit.listener.AuditApplicationEvent;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.context.ApplicationEventPublisher;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackend.Eviction;
import io.github.holdfast.LockException;
import io.github.holdfast.LockHolder;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockUse;
import io.github.holdfast.store.Digest;

/**
 * {@link Endpoint} that tells which locks this node holds and waits for, and what the
 * store knows of one lock. Whoever may use all of it can take a lock away from a holder
 * that hangs.
 *
 * @since 0.2.0
 */
@Endpoint(id = "locks", defaultAccess = Access.READ_ONLY)
public class LocksEndpoint {

	private static final Logger logger = LoggerFactory.getLogger(LocksEndpoint.class);

	private static final String DIGEST = "sha256:";

	/** Before the keys in the text of a holder; behind it, a key could say anything. */
	private static final String KEYS = ", holding '";

	private final Supplier<List<LockUse>> uses;

	private final Supplier<List<LockBackend>> backends;

	private final String keyPrefix;

	private final Show showValues;

	private final ApplicationEventPublisher publisher;

	/**
	 * Create an endpoint.
	 * @param uses supplies what this node holds and waits for
	 * @param backends supplies all backends, which have different names
	 * @param keyPrefix what is put in front of keys in the store
	 * @param showValues when keys are shown; a digest is otherwise
	 * @param publisher is told of each attempt to take a lock away, as an audit event of
	 * the type {@code LOCK_EVICTION}, in which characters that could forge a line are
	 * escaped
	 */
	public LocksEndpoint(Supplier<List<LockUse>> uses, Supplier<List<LockBackend>> backends, String keyPrefix,
			Show showValues, ApplicationEventPublisher publisher) {
		this.uses = uses;
		this.backends = backends;
		this.keyPrefix = keyPrefix;
		this.showValues = showValues;
		this.publisher = publisher;
	}

	/**
	 * What this node holds and waits for.
	 * @return the locks
	 */
	@ReadOperation
	public LocksDescriptor locks() {
		return locks(isShown());
	}

	/**
	 * What the store and this node know of one lock.
	 * @param key the key, as it is in the application, or its digest
	 * @return the lock
	 */
	@ReadOperation
	public LockDescriptor lock(@Selector(match = Selector.Match.ALL_REMAINING) String[] key) {
		return lock(String.join("/", key), isShown());
	}

	/**
	 * Takes a lock away from its holder, whose transactions are refused from then on. A
	 * successor is not touched.
	 * @param key the key, as it is in the application, or its digest
	 * @param owner the owner of the holder
	 * @param epoch the epoch of the holder
	 * @return what became of it
	 */
	@DeleteOperation
	public EvictionDescriptor evict(@Selector(match = Selector.Match.ALL_REMAINING) String[] key, String owner,
			long epoch) {
		return evict(String.join("/", key), owner, epoch, null, isShown());
	}

	private boolean isShown() {
		return this.showValues != Show.NEVER;
	}

	LocksDescriptor locks(boolean showKeys) {
		List<LockUse> uses = this.uses.get();
		return new LocksDescriptor(held(uses, showKeys), waiting(uses, showKeys));
	}

	LockDescriptor lock(String keyOrDigest, boolean showKeys) {
		String key = resolve(keyOrDigest);
		List<LockUse> uses = this.uses.get().stream().filter((use) -> use.key().equals(key)).toList();
		Map<String, HolderDescriptor> holders = new TreeMap<>();
		List<String> unknown = new ArrayList<>();
		for (LockBackend backend : this.backends.get()) {
			try {
				LockHolder holder = backend.holder(this.keyPrefix + key);
				if (holder != null) {
					holders.put(backend.name(), HolderDescriptor.of(holder, showKeys));
				}
			}
			catch (RuntimeException ex) {
				logger.warn("Lock {} could not be looked up", LockException.quote(key), ex);
				unknown.add(backend.name());
			}
		}
		return new LockDescriptor(shown(key, showKeys), holders, unknown, held(uses, showKeys),
				waiting(uses, showKeys));
	}

	EvictionDescriptor evict(String keyOrDigest, String owner, long epoch, @Nullable String principal,
			boolean showKeys) {
		String key = resolve(keyOrDigest);
		EvictionDescriptor result = evict(key, owner, epoch, showKeys);
		logger.warn("Lock {} was to be taken away from owner {} with epoch {}: {}", LockException.quote(key),
				LockException.quote(owner), epoch, result.outcome());
		this.publisher.publishEvent(new AuditApplicationEvent((principal != null) ? principal : "unknown",
				"LOCK_EVICTION", Map.of("key", LockException.escape(key), "owner", LockException.escape(owner), "epoch",
						epoch, "outcome", result.outcome().name())));
		return result;
	}

	private EvictionDescriptor evict(String key, String owner, long epoch, boolean showKeys) {
		return this.backends.get()
			.stream()
			.map((backend) -> evict(backend, key, owner, epoch, shown(key, showKeys)))
			.min(Comparator.comparing(EvictionDescriptor::outcome))
			.orElseThrow();
	}

	private EvictionDescriptor evict(LockBackend backend, String key, String owner, long epoch, String shown) {
		try {
			Eviction eviction = backend.evict(this.keyPrefix + key, owner, epoch);
			return new EvictionDescriptor(shown, EvictionDescriptor.Outcome.valueOf(eviction.name()), null);
		}
		catch (UnsupportedOperationException ex) {
			return new EvictionDescriptor(shown, EvictionDescriptor.Outcome.NOT_SUPPORTED, ex.getMessage());
		}
		catch (RuntimeException ex) {
			logger.warn("Lock {} could not be taken away", LockException.quote(key), ex);
			return new EvictionDescriptor(shown, EvictionDescriptor.Outcome.FAILED, "the store failed");
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			return new EvictionDescriptor(shown, EvictionDescriptor.Outcome.FAILED, "interrupted");
		}
	}

	/**
	 * The key of a digest, if this node knows one. All else is a key itself.
	 */
	private String resolve(String keyOrDigest) {
		if (!keyOrDigest.startsWith(DIGEST)) {
			return keyOrDigest;
		}
		return this.uses.get()
			.stream()
			.map(LockUse::key)
			.filter((key) -> digest(key).equals(keyOrDigest))
			.findFirst()
			.orElse(keyOrDigest);
	}

	private static String shown(String key, boolean show) {
		return (show || key.startsWith(DIGEST)) ? key : digest(key);
	}

	private static String digest(String key) {
		return DIGEST + Digest.ofKey(key);
	}

	private static List<HeldDescriptor> held(List<LockUse> uses, boolean showKeys) {
		return uses.stream()
			.filter((use) -> use.lease() != null)
			.map((use) -> HeldDescriptor.of(use, shown(use.key(), showKeys)))
			.toList();
	}

	private static List<WaitingDescriptor> waiting(List<LockUse> uses, boolean showKeys) {
		return uses.stream()
			.filter((use) -> use.lease() == null)
			.map((use) -> new WaitingDescriptor(use.name(), shown(use.key(), showKeys), use.mode(), use.thread(),
					Instant.now().minus(use.waitTime()), use.waitTime()))
			.toList();
	}

	/**
	 * What this node holds and waits for.
	 *
	 * @param held the locks that are held
	 * @param waiting the locks that are waited for
	 */
	public record LocksDescriptor(List<HeldDescriptor> held,
			List<WaitingDescriptor> waiting) implements OperationResponseBody {

	}

	/**
	 * One lock.
	 *
	 * @param key the key or its digest
	 * @param holders who holds it, by the name of the backend, as the stores know it;
	 * none if it is free, or the store does not tell
	 * @param unknown the backends whose stores have failed, so that nobody knows whether
	 * it is free there
	 * @param held how this node holds it
	 * @param waiting who waits for it on this node
	 */
	public record LockDescriptor(String key, Map<String, HolderDescriptor> holders, List<String> unknown,
			List<HeldDescriptor> held, List<WaitingDescriptor> waiting) implements OperationResponseBody {

	}

	/**
	 * The holder of a lock, as the store knows it.
	 *
	 * @param owner the owner of the acquisition
	 * @param epoch the epoch of the grant, as a text since it may be too large for
	 * JavaScript
	 * @param text who that is, for people; ends before the keys of its other locks unless
	 * keys are shown
	 * @param since when the lock was granted, by the clock of the store
	 * @param expires when the lease runs out unless it is renewed, by the clock of the
	 * store
	 */
	public record HolderDescriptor(@Nullable String owner, @Nullable String epoch, String text, @Nullable Instant since,
			@Nullable Instant expires) {

		static HolderDescriptor of(LockHolder holder, boolean showKeys) {
			Long epoch = holder.epoch();
			return new HolderDescriptor(holder.owner(), (epoch != null) ? epoch.toString() : null,
					showKeys ? holder.text() : holder.text().split(KEYS, 2)[0], holder.since(), holder.expires());
		}

	}

	/**
	 * A lock that this node holds.
	 *
	 * @param name the lock's name
	 * @param key the key or its digest
	 * @param mode how it is shared
	 * @param thread the thread that made the call
	 * @param since when the call got it, by the clock of this node
	 * @param waitTime how long the call has waited for its locks
	 * @param holdTime how long it has held all of them; none while it waits for more
	 * @param remaining how long this node can prove that it holds the lock, unless it is
	 * renewed; none if it does not run out
	 * @param owner the owner of the acquisition
	 * @param epoch the epoch of the grant, as a text
	 * @param turn which holder of this node it is that has the lease
	 * @param token the fencing token, as a text
	 * @param valid whether this node can still prove that it holds the lock
	 */
	public record HeldDescriptor(String name, String key, LockRequest.Mode mode, String thread, @Nullable Instant since,
			Duration waitTime, @Nullable Duration holdTime, @Nullable Duration remaining, String owner, String epoch,
			int turn, String token, boolean valid) {

		static HeldDescriptor of(LockUse use, String key) {
			LockLease lease = Objects.requireNonNull(use.lease());
			Duration holdTime = use.holdTime();
			return new HeldDescriptor(use.name(), key, use.mode(), use.thread(),
					(holdTime != null) ? Instant.now().minus(holdTime) : null, use.waitTime(), holdTime,
					lease.remaining(), lease.owner(), Long.toString(lease.epoch()), lease.turn(),
					Long.toString(lease.token()), lease.isValid());
		}

	}

	/**
	 * A lock that this node waits for.
	 *
	 * @param name the lock's name
	 * @param key the key or its digest
	 * @param mode how it is to be shared
	 * @param thread the thread that waits
	 * @param since when the call began to wait, by the clock of this node
	 * @param waitTime how long it has waited
	 */
	public record WaitingDescriptor(String name, String key, LockRequest.Mode mode, String thread, Instant since,
			Duration waitTime) {

	}

	/**
	 * What became of a lock that was to be taken away.
	 *
	 * @param key the key or its digest
	 * @param outcome what became of it
	 * @param detail why, if that is not clear
	 */
	public record EvictionDescriptor(String key, Outcome outcome,
			@Nullable String detail) implements OperationResponseBody {

		/**
		 * What became of it. Of several backends, the first one of these is told.
		 */
		public enum Outcome {

			/** The holder has lost the lock. */
			EVICTED,

			/**
			 * The holder's transaction is open in the database, and keeps others out: end
			 * its session there.
			 */
			IN_TRANSACTION,

			/** The store failed. Try again. */
			FAILED,

			/** The backend cannot take this lock away. */
			NOT_SUPPORTED,

			/** It is free, or another one holds it. */
			NOT_HELD

		}

	}

}
