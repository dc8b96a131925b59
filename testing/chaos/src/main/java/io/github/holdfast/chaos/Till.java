package io.github.holdfast.chaos;

import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;

/**
 * A service whose annotation is on an interface that the class of the method does not
 * know.
 */
interface Till {

	@DistributedLock(key = "#p0")
	void sell(String key, CallRecorder call);

	/**
	 * Has the method, and implements nothing.
	 */
	class Base {

		private final Shop shop;

		Base(Shop shop) {
			this.shop = shop;
		}

		@Transactional
		public void sell(String key, CallRecorder call) {
			call.underLock(() -> this.shop.sell(key, key, call));
		}

	}

	/**
	 * Is a till by inheritance.
	 */
	class Inherited extends Base implements Till {

		Inherited(Shop shop) {
			super(shop);
		}

	}

}
