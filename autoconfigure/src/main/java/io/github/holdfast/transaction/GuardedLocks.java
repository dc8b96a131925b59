package io.github.holdfast.transaction;

import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceClaims;
import io.github.holdfast.fence.RowFence;

/**
 * What can be checked at the commits of one transaction manager for the locks of one
 * backend. Finds this out at the first use, when both are complete.
 */
final class GuardedLocks {

	private final GuardedManager manager;

	private final Supplier<CommitGuardLevel> wanted;

	private final SingletonSupplier<Fence> fence;

	private volatile @Nullable CommitGuardLevel guarding;

	/**
	 * Create what is not known yet.
	 * @param manager the manager
	 * @param wanted supplies the wanted level
	 * @param fence supplies the fence, or {@code null} if the backend has none
	 */
	GuardedLocks(GuardedManager manager, Supplier<CommitGuardLevel> wanted, Supplier<@Nullable Fence> fence) {
		this.manager = manager;
		this.wanted = wanted;
		this.fence = new SingletonSupplier<>(null, fence);
	}

	/**
	 * Whether the commits are wanted to be checked by more than the clock of this JVM.
	 */
	boolean wantsMore() {
		return this.wanted.get() != CommitGuardLevel.LEASE;
	}

	/**
	 * The level at which the manager's commits are checked.
	 * @return the level
	 * @throws LockConfigurationException if the wanted level is not possible
	 */
	CommitGuardLevel guarding() {
		CommitGuardLevel guarding = this.guarding;
		if (guarding == null) {
			guarding = resolve(this.wanted.get());
			this.guarding = guarding;
		}
		return guarding;
	}

	private CommitGuardLevel resolve(CommitGuardLevel wanted) {
		if (wanted == CommitGuardLevel.LEASE || this.manager.hasLeaseCheckOnly()) {
			return CommitGuardLevel.LEASE;
		}
		Fence fence = this.fence.get();
		if (fence == null) {
			return withoutFence(wanted);
		}
		String objection = objection(fence);
		if (objection == null) {
			return CommitGuardLevel.FENCE;
		}
		if (wanted == CommitGuardLevel.VERIFY) {
			return wanted;
		}
		throw this.manager.notFenced(objection);
	}

	/**
	 * What speaks against checking the commits by a fence. Only rows can be seen through
	 * another pool.
	 */
	private @Nullable String objection(Fence fence) {
		DataSource dataSource = this.manager.knownDataSource();
		if (dataSource == null) {
			return "its DataSource is not known to Spring";
		}
		if (fence instanceof RowFence && this.manager.isSaidToBeFenced()) {
			return null;
		}
		if (ConnectionPools.isRouter(dataSource)) {
			return "its DataSource chooses among several connection pools";
		}
		return ConnectionPools.areSame(dataSource, fence.dataSource()) ? null
				: "its DataSource is not the connection pool of the locks";
	}

	private static CommitGuardLevel withoutFence(CommitGuardLevel wanted) {
		if (wanted == CommitGuardLevel.VERIFY) {
			return wanted;
		}
		throw new LockConfigurationException(
				"The level 'fence' of 'holdfast.commit-guard' needs a Fence bean beside your own LockBackend bean.",
				"Put your backend into a FencedLockBackend with a FenceTable, and declare 'FenceTable.fence()' "
						+ "as a bean, or set 'holdfast.commit-guard' to 'lease' or 'verify'.");
	}

	/**
	 * What it means that a lease is not held, as the end of a sentence.
	 * @param level how that was found
	 */
	String lossDetail(CommitGuardLevel level) {
		return switch (level) {
			case LEASE -> "its lease has run out by the clock of this process, or the store reported it lost";
			case VERIFY -> "the store says that it is no longer the holder";
			case FENCE -> fence().lossDetail();
		};
	}

	Fence fence() {
		Fence fence = this.fence.get();
		Assert.state(fence != null, "No fence");
		return fence;
	}

	/**
	 * How transactions write leases into the fence table, or {@code null} if they do not.
	 */
	@Nullable FenceClaims claims() {
		Fence fence = this.fence.get();
		return (fence != null) ? fence.claims() : null;
	}

	/**
	 * Whether the commits of the manager can release locks.
	 */
	boolean canRelease() {
		return guarding() == CommitGuardLevel.FENCE && fence().canRelease(this.manager.dataSource());
	}

}
