package io.github.holdfast.cost;

import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReference;

import io.github.holdfast.testsupport.WaitingCall;

/**
 * The calls that are counted. Each constant is one table of the documentation.
 */
enum CallKind {

	/** Nobody else wants the lock. */
	FREE("A lock that is free", true) {

		@Override
		void run(Shop shop, Runnable inside) {
			shop.sell("key", inside);
		}

	},

	/** Nobody has used the key before. The method has been called. */
	NEW_KEY("The first use of a key", true) {

		@Override
		void run(Shop shop, Runnable inside) {
			shop.sell(UUID.randomUUID().toString(), inside);
		}

	},

	/** Both keys are free, and have been used before. */
	TWO_KEYS("Two keys", false) {

		@Override
		void run(Shop shop, Runnable inside) {
			shop.sellUnderTwo("key", inside);
		}

	},

	/** The inner call joins the transaction, and works as the outer one does. */
	REENTRANT("A call in a call under the same key", false) {

		@Override
		void run(Shop shop, Runnable inside) {
			shop.sell("key", () -> shop.sell("key", inside));
		}

	},

	/** The second call waits in the queue of this JVM. */
	HANDED_OVER("Two calls, the second of which waits for the first", false) {

		@Override
		void run(Shop shop, Runnable inside) {
			AtomicReference<CompletableFuture<Boolean>> second = new AtomicReference<>();
			shop.sell("key", () -> {
				second.set(WaitingCall.start(() -> {
					shop.sell("key", NOTHING);
					return true;
				}));
				inside.run();
			});
			second.get().join();
		}

	};

	private static final Runnable NOTHING = () -> {
	};

	private final String title;

	private final boolean onAllLevels;

	CallKind(String title, boolean onAllLevels) {
		this.title = title;
		this.onAllLevels = onAllLevels;
	}

	String title() {
		return this.title;
	}

	boolean isCountedAt(String level) {
		return this.onAllLevels || level.isEmpty() || level.equals(CountedBackend.Levels.FENCE);
	}

	/**
	 * Calls once.
	 * @param inside is run by the body that commits first
	 */
	abstract void run(Shop shop, Runnable inside);

}
