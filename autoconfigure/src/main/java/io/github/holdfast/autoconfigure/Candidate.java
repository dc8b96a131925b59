package io.github.holdfast.autoconfigure;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockConfigurationException;
import org.jspecify.annotations.Nullable;

/**
 * A backend that the application could use.
 *
 * @param type the store
 * @param backend creates the backend
 */
record Candidate(LockBackendType type, Supplier<LockBackend> backend) {

	/**
	 * Chooses the backend to use.
	 * @param candidates the available backends
	 * @param wanted the configured backend, if any
	 * @return the only candidate
	 * @throws LockConfigurationException if there is no or more than one candidate
	 */
	static Candidate choose(List<Candidate> candidates, @Nullable LockBackendType wanted) {
		if (candidates.size() == 1 && (wanted == null || wanted == candidates.get(0).type)) {
			return candidates.get(0);
		}
		if (candidates.size() > 1) {
			List<LockBackendType> types = candidates.stream().map(Candidate::type).sorted().toList();
			String hint = types.contains(LockBackendType.REDISSON)
					? " If Redisson is the only client of Redis, use 'redisson'." : "";
			throw new LockConfigurationException("Several lock backends are available: " + types + ".",
					"Set 'holdfast.backend' to one of them." + hint);
		}
		if (wanted != null) {
			throw new LockConfigurationException("The lock backend '" + wanted + "' is not available.",
					"Add " + wanted.requirement() + ".");
		}
		throw new LockConfigurationException("No lock backend is available.",
				"Add what one of the backends needs, or set 'holdfast.backend' to 'local' if the application runs on one "
						+ "node only:"
						+ Arrays.stream(LockBackendType.values())
							.filter((type) -> type != LockBackendType.LOCAL)
							.map((type) -> "\n  " + type + ": " + type.requirement())
							.collect(Collectors.joining()));
	}

}
