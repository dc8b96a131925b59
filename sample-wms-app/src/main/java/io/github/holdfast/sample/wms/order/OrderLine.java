package io.github.holdfast.sample.wms.order;

import io.github.holdfast.sample.wms.inventory.Code;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

/**
 * A line of an order.
 *
 * @param sku what is ordered
 * @param quantity how many pieces of it
 */
public record OrderLine(@Code String sku, @Min(1) @Max(1_000_000) int quantity) {
}
