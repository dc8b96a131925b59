package io.github.holdfast.sample.wms.sale;

import jakarta.validation.Valid;

import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Flash sales over HTTP.
 */
@RestController
@RequestMapping("/purchases")
class SaleController {

	private final SaleService sales;

	SaleController(SaleService sales) {
		this.sales = sales;
	}

	@PostMapping
	Bought buy(@Valid @RequestBody Purchase purchase) {
		return this.sales.buy(purchase);
	}

}
