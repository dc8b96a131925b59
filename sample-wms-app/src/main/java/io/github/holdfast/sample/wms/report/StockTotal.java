package io.github.holdfast.sample.wms.report;

/**
 * All stock together.
 *
 * @param skus how many SKUs of all customers and warehouses
 * @param pieces how many pieces of all of them
 */
public record StockTotal(long skus, long pieces) {
}
