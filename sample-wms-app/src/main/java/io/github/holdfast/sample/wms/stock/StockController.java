package io.github.holdfast.sample.wms.stock;

import java.util.List;

import io.github.holdfast.sample.wms.stock.StockService.Receipt;
import jakarta.validation.Valid;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/inventory")
class StockController {

	private final StockService stock;

	StockController(StockService stock) {
		this.stock = stock;
	}

	@PostMapping("/receipts")
	Stock receive(@Valid @RequestBody Receipt receipt) {
		return this.stock.receive(receipt);
	}

	@GetMapping("/{customerNo}/{warehouseCode}")
	List<Stock> list(@PathVariable String customerNo, @PathVariable String warehouseCode) {
		return this.stock.list(customerNo, warehouseCode);
	}

	@GetMapping("/{customerNo}/{warehouseCode}/{sku}")
	Stock get(@PathVariable String customerNo, @PathVariable String warehouseCode, @PathVariable String sku) {
		return this.stock.get(new StockId(customerNo, warehouseCode, sku));
	}

}
