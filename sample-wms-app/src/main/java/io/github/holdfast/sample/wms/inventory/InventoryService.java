package io.github.holdfast.sample.wms.inventory;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

import io.github.holdfast.sample.wms.request.RequestIdReusedException;
import io.github.holdfast.sample.wms.request.Requests;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Changes and reads stock. Every change reads a row, computes the new value and writes
 * it, so it is only correct under the {@link StockLock}.
 */
@Service
public class InventoryService {

	private final InventoryMapper inventory;

	private final Requests requests;

	InventoryService(InventoryMapper inventory, Requests requests) {
		this.inventory = inventory;
		this.requests = requests;
	}

	/**
	 * Adds pieces to stock, once for each request.
	 * @param receipt what has arrived
	 * @return the stock after that
	 * @throws RequestIdReusedException if another request had this id
	 */
	@StockLock("{#receipt.lockKey, #receipt.stockId.lockKey}")
	@Transactional
	public Stock receive(Receipt receipt) {
		return this.requests.once(receipt, Stock.class, () -> add(receipt.stockId(), receipt.quantity()));
	}

	private Stock add(StockId id, int quantity) {
		InventoryRow row = this.inventory.find(id);
		if (row == null) {
			this.inventory.insert(id, quantity);
			return Stock.of(id, quantity);
		}
		long available = row.availableInventory() + quantity;
		this.inventory.update(row.withAvailable(available));
		return Stock.of(id, available);
	}

	/**
	 * Takes pieces out of stock, all or none. The caller holds the {@link StockLock} of
	 * each stock, in a transaction that began under it.
	 * @param quantities how many pieces of each stock
	 * @throws InsufficientStockException if there are fewer
	 */
	@Transactional(propagation = Propagation.MANDATORY)
	public void deduct(Map<StockId, Long> quantities) {
		List<InventoryRow> changes = new ArrayList<>();
		List<InsufficientStockException.Shortage> shortages = new ArrayList<>();
		quantities.forEach((id, quantity) -> {
			InventoryRow row = this.inventory.find(id);
			long available = (row != null) ? row.availableInventory() : 0;
			if (row == null || available < quantity) {
				shortages.add(new InsufficientStockException.Shortage(id.sku(), quantity, available));
			}
			else {
				changes.add(row.withAvailable(available - quantity));
			}
		});
		if (!shortages.isEmpty()) {
			throw new InsufficientStockException(shortages);
		}
		changes.forEach(this.inventory::update);
	}

	/**
	 * Reads the stock of one SKU.
	 * @param id which stock
	 * @return the stock
	 * @throws StockNotFoundException if there never was any
	 */
	public Stock get(StockId id) {
		InventoryRow row = this.inventory.find(id);
		if (row == null) {
			throw new StockNotFoundException(id);
		}
		return Stock.of(id, row.availableInventory());
	}

	/**
	 * Reads the stock of a customer in a warehouse.
	 * @param customerNo whose stock
	 * @param warehouseCode where
	 * @return the stock of each SKU, by SKU
	 */
	public List<Stock> list(String customerNo, String warehouseCode) {
		return this.inventory.list(customerNo, warehouseCode);
	}

}
