package io.github.holdfast.sample.wms.proof;

import java.util.Set;
import java.util.TreeSet;
import java.util.UUID;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A hundred buyers who want the same article at once: 400 requests, a quarter of which
 * repeats others, for 150 pieces, of which nobody gets more than two.
 */
final class FlashSale {

	private static final int PIECES = 150;

	private static final int LIMIT = 2;

	private static final int BUYERS = 100;

	private static final int REQUESTS = 400;

	private final StockDatabase database;

	private final String customerNo = "C-" + UUID.randomUUID();

	private final WarehouseClient client;

	FlashSale(StockDatabase database, Cluster cluster) {
		this.database = database;
		this.client = new WarehouseClient(cluster, this.customerNo);
	}

	/**
	 * Sells.
	 * @param title names the run in the report
	 * @param receipts how often the receipt of the pieces is sent, all at once
	 * @return what came of it
	 */
	Result run(String title, int receipts) throws Exception {
		Sale.call(receipts, receipts, (i) -> () -> {
			this.client.receive("R-" + this.customerNo, "HOT", PIECES);
			return true;
		});
		long received = this.database.stock(this.customerNo, "HOT");
		Set<Integer> answers = new TreeSet<>(Sale.call(REQUESTS, REQUESTS, (i) -> () -> {
			String buyerNo = "B-" + i % BUYERS;
			return this.client.buy(this.customerNo + "." + buyerNo + "." + i / BUYERS % 3, "HOT", buyerNo);
		}));
		Result result = new Result(received, this.database.bought(this.customerNo),
				this.database.boughtByOne(this.customerNo), this.database.stock(this.customerNo, "HOT"), answers,
				this.client.retries(), this.client.errors());
		System.out.println("PROOF " + this.database.name() + ", " + title + ": " + result);
		return result;
	}

	/**
	 * What came of a flash sale.
	 *
	 * @param received how many pieces there were
	 * @param bought how many were sold
	 * @param boughtByOne how many the buyer has who has most
	 * @param left how many are left
	 * @param answers the status of the answers
	 * @param retries how many requests were sent again
	 * @param errors the problems after which they were
	 */
	record Result(long received, long bought, long boughtByOne, long left, Set<Integer> answers, int retries,
			Set<String> errors) {

		boolean isFair() {
			return this.bought <= PIECES && this.boughtByOne <= LIMIT;
		}

		void assertFair() {
			assertThat(this.received).isEqualTo(PIECES);
			assertThat(this.bought).isEqualTo(PIECES);
			assertThat(this.boughtByOne).isEqualTo(LIMIT);
			assertThat(this.left).isZero();
			assertThat(this.answers).containsExactly(200, 409);
		}

	}

}
