package io.github.holdfast.lab.strategy;

/**
 * The row of an SKU in {@code lab_stock}.
 *
 * @param version counts the changes, where a strategy does so
 * @param changes counts all changes, by a trigger; by this the lab finds lost updates
 */
public record Stock(long available, long version, long changes) {
}
