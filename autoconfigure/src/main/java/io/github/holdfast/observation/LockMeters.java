package io.github.holdfast.observation;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import io.micrometer.core.instrument.MeterRegistry;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;

/**
 * Counts and times locked calls: how long they wait and hold, how many do so now, for how
 * long the first of these has, and what goes wrong. All tags come from the code and the
 * configuration; none is a key.
 *
 * @since 0.2.0
 */
public final class LockMeters implements LockListener.NonBlocking {

	private static final Logger logger = LoggerFactory.getLogger(LockMeters.class);

	/**
	 * As many names as no code has; a name that contains a key would fill the registry.
	 */
	private static final int MOST_NAMES = 1000;

	private static final String OTHER_NAMES = "other";

	private final MeterRegistry registry;

	private final Map<String, MetersOfLock> meters = new ConcurrentHashMap<>();

	/**
	 * Create meters.
	 * @param registry where they are registered, when a lock is first wanted
	 */
	public LockMeters(MeterRegistry registry) {
		this.registry = registry;
	}

	@Override
	public void attempted(Call call) {
		metersOf(call).attempted(call);
	}

	@Override
	public void acquired(Call call, Duration waitTime) {
		MetersOfLock meters = metersOf(call);
		meters.acquired(call, waitTime);
		LockContext.current().ifPresent((lock) -> countHandovers(call, lock, meters));
	}

	/**
	 * The first holder of a grant of the store has the turn 0.
	 */
	private static void countHandovers(Call call, LockContext lock, MetersOfLock meters) {
		List<String> keys = lock.keys();
		for (int i = 0; i < keys.size(); i++) {
			if (lock.leases().get(i).turn() > 0 && call.keys().contains(keys.get(i))) {
				meters.handovers().increment();
			}
		}
	}

	@Override
	public void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
		metersOf(call).notAcquired(call, reason, waitTime, cause);
	}

	@Override
	public void storeFailed(Call call, Operation operation, Throwable failure) {
		metersOf(call).storeFailed(operation, failure);
	}

	@Override
	public void lost(Call call, String key, Duration holdTime) {
		metersOf(call).lost().increment();
	}

	@Override
	public void released(Call call, Outcome outcome, Duration holdTime) {
		metersOf(call).released(call, outcome, holdTime);
	}

	private MetersOfLock metersOf(Call call) {
		MetersOfLock found = find(call.name(), call);
		return (found != null) ? found : create(call);
	}

	private @Nullable MetersOfLock find(String name, Call call) {
		for (MetersOfLock meters = this.meters.get(name); meters != null; meters = meters.next()) {
			if (meters.areFor(call)) {
				return meters;
			}
		}
		return null;
	}

	private synchronized MetersOfLock create(Call call) {
		String name = call.name();
		if (this.meters.size() >= MOST_NAMES && !this.meters.containsKey(name)) {
			name = OTHER_NAMES;
		}
		MetersOfLock found = find(name, call);
		if (found != null) {
			return found;
		}
		if (this.meters.size() == MOST_NAMES) {
			logger.warn("Lock '{}' and all further names are counted as '{}', as there are meters of {} names already: "
					+ "the name of a lock must not contain its key", call.name(), OTHER_NAMES, MOST_NAMES);
		}
		MetersOfLock created = new MetersOfLock(this.registry, name, call, this.meters.get(name));
		this.meters.put(name, created);
		return created;
	}

}
