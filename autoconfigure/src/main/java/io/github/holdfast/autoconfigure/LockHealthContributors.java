package io.github.holdfast.autoconfigure;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.health.contributor.CompositeHealthContributor;
import org.springframework.boot.health.contributor.HealthContributor;

import io.github.holdfast.LockBackend;
import io.github.holdfast.actuate.LockHealthIndicator;

/**
 * The health of several backends by their names. They are opened when it is asked for.
 */
final class LockHealthContributors implements CompositeHealthContributor {

	private final LockBackend usual;

	private final LockHealthIndicator indicator;

	private final NamedBackends named;

	private final String probedKey;

	private final Map<String, LockHealthIndicator> indicators = new ConcurrentHashMap<>();

	/**
	 * Create the contributors.
	 * @param usual the default backend
	 * @param indicator the health of that one
	 * @param named the other ones
	 * @param probedKey the stored id of a lock, which is left alone
	 */
	LockHealthContributors(LockBackend usual, LockHealthIndicator indicator, NamedBackends named, String probedKey) {
		this.usual = usual;
		this.indicator = indicator;
		this.named = named;
		this.probedKey = probedKey;
	}

	@Override
	public @Nullable HealthContributor getContributor(String name) {
		return stream().filter((entry) -> entry.name().equals(name)).findFirst().map(Entry::contributor).orElse(null);
	}

	@Override
	public Stream<Entry> stream() {
		return Stream.concat(Stream.of(new Entry(this.usual.name(), this.indicator)),
				this.named.all()
					.stream()
					.filter((guard) -> guard.backend() != this.usual)
					.map((guard) -> new Entry(guard.backend().name(), this.indicators.computeIfAbsent(
							guard.backend().name(),
							(name) -> new LockHealthIndicator(guard.backend(), this.probedKey, guard::level)))));
	}

}
