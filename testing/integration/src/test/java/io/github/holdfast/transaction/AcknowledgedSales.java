package io.github.holdfast.transaction;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

import org.jspecify.annotations.Nullable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * How much of a stock of 100 pieces was sold, by what the callers were told.
 */
final class AcknowledgedSales {

	private final AtomicInteger pieces = new AtomicInteger();

	/**
	 * Sells.
	 */
	@Nullable Throwable sell(int pieces, Runnable sale) {
		Throwable failure = catchThrowable(sale::run);
		if (failure == null) {
			this.pieces.addAndGet(pieces);
		}
		return failure;
	}

	/**
	 * Sells on another thread, and returns when that has ended.
	 */
	@Nullable Throwable sellMeanwhile(int pieces, Runnable sale) {
		return CompletableFuture.supplyAsync(() -> sell(pieces, sale)).orTimeout(60, TimeUnit.SECONDS).join();
	}

	void assertNoneIsLostIn(int quantity) {
		assertThat(quantity).as("what is left after %s acknowledged sales", this.pieces)
			.isEqualTo(100 - this.pieces.get());
	}

}
