package io.github.holdfast.sample.wms.item;

import io.github.holdfast.sample.wms.inventory.Code;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Items over HTTP.
 */
@RestController
@RequestMapping("/items/{sku}")
@ConditionalOnBooleanProperty("wms.items.enabled")
class ItemController {

	private final ItemService items;

	ItemController(ItemService items) {
		this.items = items;
	}

	@PatchMapping
	Item merge(@PathVariable @Code String sku, @RequestBody ObjectNode changes) {
		return this.items.merge(sku, changes);
	}

	@GetMapping
	Item get(@PathVariable String sku) {
		return this.items.get(sku);
	}

}
