package io.github.holdfast.sample.wms.sale;

import java.util.Map;

import io.github.holdfast.sample.wms.Code;
import io.github.holdfast.sample.wms.ProblemException;
import io.github.holdfast.sample.wms.request.Request;
import io.github.holdfast.sample.wms.request.Requests;
import io.github.holdfast.sample.wms.stock.StockId;
import io.github.holdfast.sample.wms.stock.StockLock;
import io.github.holdfast.sample.wms.stock.StockService;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Sells stock to buyers, up to a limit per buyer. The lock of the stock also protects the
 * limit.
 */
@Service
public class SaleService {

	private final SaleMapper sales;

	private final StockService stock;

	private final Requests requests;

	private final int limit;

	SaleService(SaleMapper sales, StockService stock, Requests requests, @Value("${wms.sale.limit}") int limit) {
		this.sales = sales;
		this.stock = stock;
		this.requests = requests;
		this.limit = limit;
	}

	/** Sells items, all or none, once per request. */
	@StockLock("{#purchase.lockKey, #purchase.stockId.lockKey}")
	@Transactional
	public Bought buy(Purchase purchase) {
		return this.requests.once(purchase, Bought.class, () -> {
			long bought = this.sales.bought(purchase) + purchase.quantity();
			if (bought > this.limit) {
				throw ProblemException.conflict("limit-exceeded",
						"Buyer '" + purchase.buyerNo() + "' may have " + this.limit + " of '" + purchase.sku() + "'");
			}
			this.stock.deduct(Map.of(purchase.stockId(), (long) purchase.quantity()));
			this.sales.insert(purchase);
			return new Bought(purchase.buyerNo(), purchase.sku(), bought);
		});
	}

	public record Purchase(@Code String requestId, @Code String customerNo, @Code String warehouseCode,
			@Code String sku, @Code String buyerNo, @Min(1) @Max(1_000_000) int quantity) implements Request {

		public StockId stockId() {
			return new StockId(this.customerNo, this.warehouseCode, this.sku);
		}

	}

	public record Bought(String buyerNo, String sku, long quantity) {
	}

}
