package io.github.holdfast.sample.wms.inventory;

import java.util.List;

import jakarta.validation.Valid;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Stock over HTTP.
 */
@RestController
@RequestMapping("/inventory")
class InventoryController {

	private final InventoryService inventory;

	InventoryController(InventoryService inventory) {
		this.inventory = inventory;
	}

	@PostMapping("/receipts")
	Stock receive(@Valid @RequestBody Receipt receipt) {
		return this.inventory.receive(receipt);
	}

	@GetMapping("/{customerNo}/{warehouseCode}")
	List<Stock> list(@PathVariable String customerNo, @PathVariable String warehouseCode) {
		return this.inventory.list(customerNo, warehouseCode);
	}

	@GetMapping("/{customerNo}/{warehouseCode}/{sku}")
	Stock find(@PathVariable String customerNo, @PathVariable String warehouseCode, @PathVariable String sku) {
		return this.inventory.get(new StockId(customerNo, warehouseCode, sku));
	}

}
