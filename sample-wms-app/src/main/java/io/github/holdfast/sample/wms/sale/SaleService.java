package io.github.holdfast.sample.wms.sale;

import java.util.Map;

import io.github.holdfast.sample.wms.inventory.InsufficientStockException;
import io.github.holdfast.sample.wms.inventory.InventoryService;
import io.github.holdfast.sample.wms.inventory.StockLock;
import io.github.holdfast.sample.wms.request.RequestIdReusedException;
import io.github.holdfast.sample.wms.request.Requests;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Sells stock to buyers, to each of them not more than the limit. The lock of the stock
 * guards what each buyer has of it, too.
 */
@Service
class SaleService {

	private final SaleMapper sales;

	private final InventoryService inventory;

	private final Requests requests;

	private final int limit;

	SaleService(SaleMapper sales, InventoryService inventory, Requests requests,
			@Value("${wms.sale.limit}") int limit) {
		this.sales = sales;
		this.inventory = inventory;
		this.requests = requests;
		this.limit = limit;
	}

	/**
	 * Sells pieces, all or none, once for each request.
	 * @param purchase what somebody wants
	 * @return what the buyer has by then
	 * @throws LimitExceededException if that were more than the limit
	 * @throws InsufficientStockException if there are fewer pieces
	 * @throws RequestIdReusedException if another request had this id
	 */
	@StockLock("{#purchase.lockKey, #purchase.stockId.lockKey}")
	@Transactional
	public Bought buy(Purchase purchase) {
		return this.requests.once(purchase, Bought.class, () -> {
			long bought = this.sales.bought(purchase) + purchase.quantity();
			if (bought > this.limit) {
				throw new LimitExceededException(purchase, this.limit);
			}
			this.inventory.deduct(Map.of(purchase.stockId(), (long) purchase.quantity()));
			this.sales.insert(purchase);
			return new Bought(purchase.buyerNo(), purchase.sku(), bought);
		});
	}

}
