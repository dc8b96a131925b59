package io.github.holdfast.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/**
 * The spans of locked calls.
 *
 * @since 0.2.0
 */
public enum LockObservationDocumentation implements ObservationDocumentation {

	/** The wait of a call for its locks. */
	ACQUIRE("holdfast.lock.acquire"),

	/** The time for which a call holds its locks, around what it does under them. */
	HOLD("holdfast.lock.hold");

	private final String name;

	LockObservationDocumentation(String name) {
		this.name = name;
	}

	@Override
	public String getName() {
		return this.name;
	}

	@Override
	public Class<? extends ObservationConvention<? extends Observation.Context>> getDefaultConvention() {
		return DefaultLockObservationConvention.class;
	}

	@Override
	public KeyName[] getLowCardinalityKeyNames() {
		return LowCardinalityKeyNames.values();
	}

	@Override
	public KeyName[] getHighCardinalityKeyNames() {
		return HighCardinalityKeyNames.values();
	}

	@Override
	public Observation.Event[] getEvents() {
		return Events.values();
	}

	/**
	 * What has few values.
	 */
	public enum LowCardinalityKeyNames implements KeyName {

		/** The name of the lock. */
		LOCK_NAME("lock.name"),

		/** The name of the backend. */
		BACKEND("backend"),

		/** How the lock is shared. */
		MODE("mode"),

		/** How it ended. */
		OUTCOME("outcome"),

		/** The class of what was thrown, or {@code none}. */
		EXCEPTION("exception");

		private final String key;

		LowCardinalityKeyNames(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;
		}

	}

	/**
	 * What is another one for each call, or each lock.
	 */
	public enum HighCardinalityKeyNames implements KeyName {

		/** A digest of each key, by which calls of the same lock are found. */
		KEY_DIGEST("lock.key.digest"),

		/** The tokens of the locks. */
		TOKEN("lock.token");

		private final String key;

		HighCardinalityKeyNames(String key) {
			this.key = key;
		}

		@Override
		public String asString() {
			return this.key;
		}

	}

	/**
	 * What may happen meanwhile.
	 */
	public enum Events implements Observation.Event {

		/** A lock was lost. */
		LOST("holdfast.lock.lost"),

		/** The store did not answer, or refused. */
		STORE_FAILED("holdfast.lock.store-failed");

		private final String name;

		Events(String name) {
			this.name = name;
		}

		@Override
		public String getName() {
			return this.name;
		}

	}

}
