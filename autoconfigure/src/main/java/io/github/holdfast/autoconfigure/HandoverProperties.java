package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.Set;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

import io.github.holdfast.handover.HandoverLimits;
import io.github.holdfast.support.LockConfigurationException;
import io.github.holdfast.support.QueueLimits;

/**
 * Configuration properties for the queue in which the threads of this JVM wait for locks,
 * and for how long they may pass a lock on among themselves.
 *
 * @param maxTurns Threads in a row that get a lock by one request to the store, while
 * other JVMs may wait for it: 0 to 255. 0 and 1 switch passing on off.
 * @param maxTime Time for which a lock is passed on before it goes back to the store.
 * @param maxWaitersPerKey Threads that may wait for one lock.
 * @param maxWaiters Threads that may wait for locks in total.
 * @since 0.1.0
 */
@ConfigurationProperties("holdfast.handover")
public record HandoverProperties(@DefaultValue("16") int maxTurns, @DefaultValue("100ms") Duration maxTime,
		@DefaultValue("10000") int maxWaitersPerKey, @DefaultValue("100000") int maxWaiters) {

	/**
	 * How long locks are passed on.
	 * @param without the names of locks that are not
	 * @return the limits
	 * @throws LockConfigurationException if they are out of range
	 */
	HandoverLimits limits(Set<String> without) {
		try {
			return new HandoverLimits(this.maxTurns, this.maxTime, (name) -> !without.contains(name));
		}
		catch (IllegalArgumentException ex) {
			throw unusable("max-turns' and 'holdfast.handover.max-time", ex);
		}
	}

	/**
	 * How many threads may wait.
	 * @return the limits
	 * @throws LockConfigurationException if they are out of range
	 */
	QueueLimits queueLimits() {
		try {
			return new QueueLimits(this.maxWaitersPerKey, this.maxWaiters);
		}
		catch (IllegalArgumentException ex) {
			throw unusable("max-waiters-per-key' and 'holdfast.handover.max-waiters", ex);
		}
	}

	private static LockConfigurationException unusable(String names, IllegalArgumentException ex) {
		return new LockConfigurationException(
				"The properties 'holdfast.handover." + names + "' are not usable: " + ex.getMessage() + ".",
				"Correct the number, or remove the property for its default.", ex);
	}

}
