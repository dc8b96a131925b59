package io.github.holdfast.lab.node;

/**
 * An order, as the lab sends it to a node.
 *
 * @param strategy the id of the strategy that sells it
 * @param number its number in the run
 * @param sku what is ordered
 * @param quantity how many pieces
 * @param workMs how long there is something to do between reading and writing
 * @param waitMs how long it waits for others
 */
public record OrderRequest(String strategy, int number, String sku, int quantity, int workMs, int waitMs) {
}
