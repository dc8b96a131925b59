package io.github.holdfast.transaction;

import java.util.function.Supplier;

import javax.sql.DataSource;

import org.jspecify.annotations.Nullable;

import org.springframework.util.Assert;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceClaims;
import io.github.holdfast.support.LockConfigurationException;

/**
 * What can be checked at the commits of one transaction manager for the locks of one
 * backend. Finds this out at the first use, when both are complete.
 */
final class GuardedLocks {

	private final GuardedManager manager;

	private final Supplier<CommitGuardLevel> wanted;

	private final SingletonSupplier<Fence> fence;

	private final Supplier<@Nullable Fence> known;

	private final DatabaseProof proof;

	private volatile @Nullable CommitGuardLevel guarding;

	/**
	 * Create what is not known yet.
	 * @param manager the manager
	 * @param wanted supplies the wanted level
	 * @param fence supplies the fence, or {@code null} if the backend has none
	 * @param known supplies the fence that knows the leases as they are, or {@code null}
	 * if it is the same one
	 * @param proof proves that the manager works on the database of the fence
	 */
	GuardedLocks(GuardedManager manager, Supplier<CommitGuardLevel> wanted, Supplier<@Nullable Fence> fence,
			Supplier<@Nullable Fence> known, DatabaseProof proof) {
		this.manager = manager;
		this.wanted = wanted;
		this.fence = SingletonSupplier.of(fence);
		this.known = known;
		this.proof = proof;
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
		DataSource dataSource = this.manager.knownDataSource();
		Fence known = this.known.get();
		String objection = (dataSource != null) ? this.proof.objection((known != null) ? known : fence, dataSource)
				: "its DataSource is not known to Spring";
		if (objection == null) {
			return CommitGuardLevel.FENCE;
		}
		if (wanted == CommitGuardLevel.VERIFY) {
			return wanted;
		}
		throw this.manager.notFenced(objection);
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
