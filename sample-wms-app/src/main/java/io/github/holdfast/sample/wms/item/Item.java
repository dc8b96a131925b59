package io.github.holdfast.sample.wms.item;

import tools.jackson.databind.JsonNode;

/**
 * An item.
 *
 * @param sku what it is
 * @param extension what is stored about it, an object with any fields
 */
public record Item(String sku, JsonNode extension) {
}
