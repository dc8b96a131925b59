package io.github.holdfast.sample.wms.report;

import java.time.Instant;

/**
 * How much stock there was at some time.
 *
 * @param takenAt when
 * @param node the process that has counted
 * @param skus how many SKUs of all customers and warehouses
 * @param pieces how many pieces of all of them
 */
public record StockReport(Instant takenAt, String node, long skus, long pieces) {
}
