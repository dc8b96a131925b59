package io.github.holdfast.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.FencedLockBackend;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.optimistic.OptimisticLockBackend;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.transaction.CommitGuardLevel;

/**
 * A store that could keep the locks of this application. When the application closes, the
 * one that does keep them stops what it still does by itself.
 */
final class LockBackendCandidate implements AutoCloseable {

	private final LockBackendType type;

	private final Supplier<LockBackend> backend;

	private volatile @Nullable LockBackend opened;

	/**
	 * Create a candidate.
	 * @param type what it is
	 * @param backend creates the backend, if it is the one to use
	 */
	LockBackendCandidate(LockBackendType type, Supplier<LockBackend> backend) {
		this.type = type;
		this.backend = backend;
	}

	LockBackendType type() {
		return this.type;
	}

	/**
	 * Create the backend, with its fence around it.
	 * @param table the rows by which commits are checked, or {@code null} if they are
	 * elsewhere or there are none
	 */
	LockBackend open(@Nullable FenceTable table) {
		LockBackend store = this.backend.get();
		this.opened = store;
		return (table != null) ? new FencedLockBackend(store, table) : store;
	}

	/**
	 * Put the queue around a backend, unless it is in this JVM, and what its fence offers
	 * besides.
	 * @param fenced the backend with its fence
	 * @param fence checks commits, or {@code null}
	 * @param handover the limits of the queue
	 * @param properties the wanted level, and the locks that are not handed over
	 */
	static LockBackend complete(LockBackend fenced, @Nullable Fence fence, LockProperties.Handover handover,
			LockProperties properties) {
		LockBackend queued = fenced.capabilities().contains(LockBackend.Capability.IN_PROCESS) ? fenced
				: new HandoverLockBackend(fenced, handover.limits(properties.namesWithoutHandover()),
						handover.queueLimits());
		return optimistic(queued, fence, properties.getCommitGuard());
	}

	/**
	 * At the other levels exclusive holders are not kept out by the fence row.
	 */
	private static LockBackend optimistic(LockBackend backend, @Nullable Fence fence,
			@Nullable CommitGuardLevel level) {
		return (fence instanceof RowFence rows && (level == null || level == CommitGuardLevel.FENCE))
				? new OptimisticLockBackend(backend, rows) : backend;
	}

	@Override
	public void close() {
		if (this.opened instanceof AutoCloseable closeable) {
			try {
				closeable.close();
			}
			catch (Exception ex) {
				throw new IllegalStateException("The lock backend could not be closed", ex);
			}
		}
	}

	/**
	 * The store that is used.
	 * @param candidates the stores that are available
	 * @param wanted the store that is asked for, if any
	 * @return the only candidate
	 * @throws LockConfigurationException if there are none or several
	 */
	static LockBackendCandidate onlyOne(List<LockBackendCandidate> candidates, @Nullable LockBackendType wanted) {
		if (candidates.size() == 1 && (wanted == null || wanted == candidates.get(0).type())) {
			return candidates.get(0);
		}
		Set<String> names = candidates.stream()
			.map((candidate) -> candidate.type().propertyValue())
			.collect(Collectors.toCollection(TreeSet::new));
		if (candidates.size() > 1) {
			throw new LockConfigurationException("Several lock backends are available: " + names + ".",
					"Set 'holdfast.backend' to one of them." + hint(names));
		}
		if (wanted != null) {
			throw new LockConfigurationException(
					"The lock backend '" + wanted.propertyValue() + "' is asked for but not available.",
					"It needs " + wanted.requirement() + ".");
		}
		throw new LockConfigurationException("No lock backend is available.",
				"Add the client of a store, or set 'holdfast.backend' to 'local' if one JVM is all there is. "
						+ Arrays.stream(LockBackendType.values())
							.map((type) -> "'" + type.propertyValue() + "' needs " + type.requirement())
							.collect(Collectors.joining("; ", "", ".")));
	}

	/**
	 * Redisson's starter always makes both available.
	 */
	private static String hint(Set<String> names) {
		return names
			.containsAll(Set.of(LockBackendType.REDIS.propertyValue(), LockBackendType.REDISSON.propertyValue()))
					? " If Redisson is the only client of Redis here, that is 'redisson': 'redis' needs Lettuce." : "";
	}

}
