package io.github.holdfast.transaction;

import java.util.Collection;
import java.util.List;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockBackend;
import io.github.holdfast.fence.Fence;

/**
 * How commits are checked for the locks of backends beside the default one.
 *
 * @since 0.2.0
 */
public interface BackendGuards {

	/** Where there is only the default backend. */
	BackendGuards NONE = new BackendGuards() {

	};

	/**
	 * How commits are checked for the locks of a backend that has granted some. Default:
	 * it is the default one.
	 * @param backend the backend
	 * @return the guard, or {@code null} if it is the default one
	 */
	default @Nullable Guard of(LockBackend backend) {
		return null;
	}

	/**
	 * All backends but the default one. Default: none.
	 * @return how commits are checked for their locks
	 */
	default Collection<Guard> all() {
		return List.of();
	}

	/**
	 * How commits are checked for the locks of one backend.
	 *
	 * @param backend the backend
	 * @param level the wanted level
	 * @param fence the fence of its leases, or {@code null} if it has none
	 */
	record Guard(LockBackend backend, CommitGuardLevel level, @Nullable Fence fence) {

	}

}
