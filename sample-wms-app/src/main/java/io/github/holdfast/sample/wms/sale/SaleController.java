package io.github.holdfast.sample.wms.sale;

import io.github.holdfast.sample.wms.sale.SaleService.Bought;
import io.github.holdfast.sample.wms.sale.SaleService.Purchase;
import jakarta.validation.Valid;

import org.springframework.resilience.annotation.ConcurrencyLimit;
import org.springframework.resilience.annotation.ConcurrencyLimit.ThrottlePolicy;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Flash sales over HTTP. Purchases that wait for their lock take at most half of Tomcat's
 * threads; further ones are rejected at once.
 */
@RestController
@RequestMapping("/purchases")
class SaleController {

	private final SaleService sales;

	SaleController(SaleService sales) {
		this.sales = sales;
	}

	@PostMapping
	@ConcurrencyLimit(limitString = "${wms.sale.concurrency}", policy = ThrottlePolicy.REJECT)
	Bought buy(@Valid @RequestBody Purchase purchase) {
		return this.sales.buy(purchase);
	}

}
