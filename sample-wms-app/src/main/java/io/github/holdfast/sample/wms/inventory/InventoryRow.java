package io.github.holdfast.sample.wms.inventory;

/**
 * A row of {@code tb_inventory}.
 *
 * @param id the primary key
 * @param availableInventory how many pieces can still be sold; none if the row is marked
 * as deleted
 * @param version counts the changes, for people who look at the table
 */
public record InventoryRow(long id, long availableInventory, long version) {

	InventoryRow withAvailable(long available) {
		return new InventoryRow(this.id, available, this.version + 1);
	}

}
