package io.github.holdfast.lab;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.lab.strategy.OrderView;

/**
 * All sales of a trial, as the database has committed them. The figures of a run come
 * from here: nodes report times, and only the database knows who has overwritten whom.
 */
final class Sales {

	private final Map<Integer, Sale> byNumber = new HashMap<>();

	private final Map<String, List<Sale>> bySku = new HashMap<>();

	Sales(List<Sale> sales) {
		for (Sale sale : sales) {
			this.byNumber.put(sale.n(), sale);
			this.bySku.computeIfAbsent(sale.sku(), (sku) -> new ArrayList<>()).add(sale);
		}
		this.bySku.values().forEach((ofSku) -> ofSku.sort(Comparator.comparingLong(Sale::wroteChanges)));
	}

	int count() {
		return this.byNumber.size();
	}

	long pieces() {
		return pieces(this.byNumber.values());
	}

	static long pieces(Collection<Sale> sales) {
		return sales.stream().mapToLong(Sale::quantity).sum();
	}

	/** The same order with what the database has stored, if it was sold. */
	OrderView complete(OrderView order) {
		Sale sale = this.byNumber.get(order.n());
		return (sale == null) ? order
				: order.sold(sale.readAvailable(), sale.wroteAvailable(), sale.readChanges(), sale.wroteChanges());
	}

	/**
	 * The sales that were overwritten by a later commit. Each sale counts once, even if
	 * the commit that erased it was overwritten in turn and the stock looks right again.
	 */
	List<Sale> overwritten() {
		List<Sale> overwritten = new ArrayList<>();
		for (List<Sale> ofSku : this.bySku.values()) {
			long earliestRead = Long.MAX_VALUE;
			for (int i = ofSku.size() - 1; i >= 0; i--) {
				Sale sale = ofSku.get(i);
				if (earliestRead < sale.wroteChanges()) {
					overwritten.add(sale);
				}
				if (sale.overwrites() > 0) {
					earliestRead = Math.min(earliestRead, Objects.requireNonNull(sale.readChanges()));
				}
			}
		}
		return overwritten;
	}

	/**
	 * The first two orders that should not have overlapped: a lost update, or else a sale
	 * of stock that did not exist.
	 */
	Optional<Overlap> firstLostUpdate() {
		Optional<Overlap> lost = all().filter((sale) -> sale.overwrites() > 0)
			.flatMap((later) -> overlap(later, Objects.requireNonNull(later.readChanges()) + 1).stream())
			.findFirst();
		return lost.isPresent() ? lost
				: all().filter((sale) -> sale.wroteAvailable() < 0)
					.flatMap((later) -> overlap(later, later.wroteChanges() - 1).stream())
					.findFirst();
	}

	private Stream<Sale> all() {
		return this.bySku.values().stream().flatMap(List::stream).sorted(Comparator.comparingLong(Sale::wroteChanges));
	}

	private Optional<Overlap> overlap(Sale later, long earlierChange) {
		Sale earlier = at(later.sku(), earlierChange);
		Sale before = at(later.sku(), later.wroteChanges() - 1);
		return (earlier != null && before != null)
				? Optional.of(new Overlap(earlier.n(), later.n(), later.overwrites(), before.wroteAvailable()))
				: Optional.empty();
	}

	private @Nullable Sale at(String sku, long change) {
		return this.bySku.getOrDefault(sku, List.of())
			.stream()
			.filter((sale) -> sale.wroteChanges() == change)
			.findFirst()
			.orElse(null);
	}

	/**
	 * A committed sale. The database numbers all changes of an SKU.
	 *
	 * @param wroteAvailable the stock that it left behind
	 */
	record Sale(String sku, int n, int quantity, @Nullable Long readAvailable, @Nullable Long readChanges,
			long wroteAvailable, long wroteChanges) {

		/**
		 * How many sales it has overwritten: all that were committed between its read and
		 * its commit, unless it subtracted from what they left behind.
		 */
		long overwrites() {
			return (this.readAvailable != null && this.readChanges != null
					&& this.wroteAvailable == this.readAvailable - this.quantity)
							? this.wroteChanges - this.readChanges - 1 : 0;
		}

	}

	/**
	 * Two orders that should not have overlapped.
	 *
	 * @param stockBefore what the database said immediately before the later one's commit
	 */
	record Overlap(int earlier, int later, long overwritten, long stockBefore) {
	}

}
