package io.github.holdfast.lab;

import java.util.List;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import io.github.holdfast.lab.Sales.Overlap;
import io.github.holdfast.lab.Sales.Sale;

import static org.assertj.core.api.Assertions.assertThat;

/** The figures of a run, from what the database has stored. */
class SalesTests {

	@Test
	void rightSalesOverwriteNothing() {
		Sales sales = new Sales(List.of(sale(1, 10L, 0L, 9, 1), sale(2, 9L, 1L, 8, 2), sale(3, null, null, 7, 3)));
		assertThat(sales.count()).isEqualTo(3);
		assertThat(sales.overwritten()).isEmpty();
		assertThat(sales.firstLostUpdate()).isEmpty();
	}

	@Test
	void allSalesInBetweenAreOverwritten() {
		Sales sales = new Sales(
				List.of(sale(1, 10L, 0L, 9, 1), sale(2, 9L, 1L, 8, 2), sale(3, 8L, 2L, 7, 3), sale(4, 10L, 0L, 9, 4)));
		assertThat(sales.overwritten()).hasSize(3);
		assertThat(sales.firstLostUpdate()).contains(new Overlap(1, 4, 3, 7));
	}

	/**
	 * The second overwrite brings the stock back: in the end only one sale is missing.
	 */
	@Test
	void overwritesThatHideEachOtherAreCountedOneByOne() {
		Sales sales = new Sales(List.of(sale(1, 10L, 0L, 9, 1), sale(2, 9L, 1L, 8, 2), sale(3, 8L, 2L, 7, 3),
				sale(4, 10L, 0L, 9, 4), sale(5, 7L, 3L, 6, 5)));
		assertThat(sales.overwritten()).hasSize(4);
	}

	@Test
	void subtractionOverwritesNothingButMaySellTooMuch() {
		Sales sales = new Sales(List.of(sale(1, 1L, 0L, 0, 1), sale(2, 1L, 0L, -1, 2)));
		assertThat(sales.overwritten()).isEmpty();
		assertThat(sales.firstLostUpdate()).contains(new Overlap(1, 2, 0, 0));
	}

	@Test
	void skusDoNotMeet() {
		Sales sales = new Sales(List.of(sale(1, 10L, 0L, 9, 1), new Sale("B", 2, 1, 10L, 0L, 9, 1),
				new Sale("B", 3, 1, 10L, 0L, 9, 2)));
		assertThat(sales.overwritten()).hasSize(1);
		assertThat(sales.firstLostUpdate()).contains(new Overlap(2, 3, 1, 9));
	}

	private static Sale sale(int n, @Nullable Long read, @Nullable Long readChanges, long wrote, long changes) {
		return new Sale("A", n, 1, read, readChanges, wrote, changes);
	}

}
