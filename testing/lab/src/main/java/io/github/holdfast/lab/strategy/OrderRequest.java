package io.github.holdfast.lab.strategy;

/**
 * An order, as the lab sends it to a node.
 *
 * @param origin from when on times are counted, in microseconds since 1970
 */
public record OrderRequest(String strategy, int number, String sku, int quantity, int workMs, int waitMs, long origin) {
}
