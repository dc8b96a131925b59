package io.github.holdfast.sample.wms.stock;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import io.github.holdfast.sample.wms.Code;
import io.github.holdfast.sample.wms.ProblemException;
import io.github.holdfast.sample.wms.request.Request;
import io.github.holdfast.sample.wms.request.Requests;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Changes and reads stock. Each change reads a row, computes the new value and writes it,
 * so it is correct only under the {@link StockLock}.
 */
@Service
public class StockService {

	private final StockMapper stock;

	private final Requests requests;

	StockService(StockMapper stock, Requests requests) {
		this.stock = stock;
		this.requests = requests;
	}

	/** Adds items to stock, once per request. */
	@StockLock("{#receipt.lockKey, #receipt.stockId.lockKey}")
	@Transactional
	public Stock receive(Receipt receipt) {
		return this.requests.once(receipt, Stock.class, () -> {
			StockId id = receipt.stockId();
			Stock found = this.stock.find(id).orElse(null);
			if (found == null) {
				Stock first = Stock.of(id, receipt.quantity());
				this.stock.insert(first);
				return first;
			}
			Stock more = Stock.of(id, found.available() + receipt.quantity());
			this.stock.update(more);
			return more;
		});
	}

	/**
	 * Takes items out of stock, all or none. The caller holds the {@link StockLock} of
	 * each stock, in a transaction that began under it.
	 */
	@Transactional(propagation = Propagation.MANDATORY)
	public void deduct(Map<StockId, Long> quantities) {
		Map<String, Long> missing = new TreeMap<>();
		quantities.forEach((id, quantity) -> {
			long left = this.stock.find(id).map(Stock::available).orElse(0L) - quantity;
			if (left < 0) {
				missing.put(id.sku(), -left);
			}
			else {
				this.stock.update(Stock.of(id, left));
			}
		});
		if (!missing.isEmpty()) {
			// Rolls back what was deducted above
			ProblemException problem = ProblemException.conflict("insufficient-stock",
					"Not enough stock of " + missing.keySet());
			problem.getBody().setProperty("missing", missing);
			throw problem;
		}
	}

	public Stock get(StockId id) {
		return this.stock.find(id)
			.orElseThrow(() -> ProblemException.notFound("unknown-stock", "There is no stock " + id));
	}

	public List<Stock> list(String customerNo, String warehouseCode) {
		return this.stock.list(customerNo, warehouseCode);
	}

	public record Receipt(@Code String requestId, @Code String customerNo, @Code String warehouseCode, @Code String sku,
			@Min(1) @Max(1_000_000) int quantity) implements Request {

		public StockId stockId() {
			return new StockId(this.customerNo, this.warehouseCode, this.sku);
		}

	}

}
