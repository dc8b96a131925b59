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

		@Override
		public @Nullable Guard of(LockBackend backend) {
			return null;
		}

		@Override
		public Collection<Guard> all() {
			return List.of();
		}

	};

	/**
	 * How commits are checked for the locks of a backend that has granted some.
	 * @param backend the backend
	 * @return the guard, or {@code null} if it is the default one
	 */
	@Nullable Guard of(LockBackend backend);

	/**
	 * All backends but the default one.
	 * @return how commits are checked for their locks
	 */
	Collection<Guard> all();

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
