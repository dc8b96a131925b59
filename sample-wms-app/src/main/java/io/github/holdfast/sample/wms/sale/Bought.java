package io.github.holdfast.sample.wms.sale;

/**
 * The answer to a purchase.
 *
 * @param buyerNo who has bought
 * @param sku what
 * @param quantity how many pieces of it by now
 */
public record Bought(String buyerNo, String sku, long quantity) {
}
