package io.github.holdfast.sample.wms.item;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockMode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.ObjectNode;

import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Changes and reads items. Two clients rarely change the same item at the same time, so
 * nothing is locked: a change that was overtaken is rolled back and done again.
 */
@Service
@ConditionalOnBooleanProperty("wms.items.enabled")
public class ItemService {

	private final ItemMapper items;

	private final JsonMapper json;

	ItemService(ItemMapper items, JsonMapper json) {
		this.items = items;
		this.json = json;
	}

	/**
	 * Changes some fields of an item, which is created if it is new.
	 * @param sku which item
	 * @param changes the fields to set; those that are null are removed
	 * @return the item after that
	 */
	@DistributedLock(name = "item", key = "'item:' + #sku", mode = LockMode.OPTIMISTIC, waitTime = "30s")
	@Transactional
	public Item merge(String sku, ObjectNode changes) {
		String stored = this.items.findExtension(sku);
		ObjectNode extension = (stored != null) ? read(stored) : this.json.createObjectNode();
		changes.properties().forEach((change) -> {
			if (change.getValue().isNull()) {
				extension.remove(change.getKey());
			}
			else {
				extension.set(change.getKey(), change.getValue());
			}
		});
		if (stored != null) {
			this.items.update(sku, extension.toString());
		}
		else {
			this.items.insert(sku, extension.toString());
		}
		return new Item(sku, extension);
	}

	/**
	 * Reads an item.
	 * @param sku which item
	 * @return the item
	 * @throws ItemNotFoundException if nothing was ever stored about it
	 */
	public Item get(String sku) {
		String extension = this.items.findExtension(sku);
		if (extension == null) {
			throw new ItemNotFoundException(sku);
		}
		return new Item(sku, read(extension));
	}

	private ObjectNode read(String extension) {
		return this.json.readValue(extension, ObjectNode.class);
	}

}
