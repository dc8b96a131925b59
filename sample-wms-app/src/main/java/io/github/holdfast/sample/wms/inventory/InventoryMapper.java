package io.github.holdfast.sample.wms.inventory;

import java.util.List;

import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.jspecify.annotations.Nullable;

/**
 * The statements on {@code tb_inventory}. None of them guards itself: whoever writes
 * holds the {@link StockLock}.
 */
@Mapper
public interface InventoryMapper {

	@Nullable InventoryRow find(StockId id);

	List<Stock> list(@Param("customerNo") String customerNo, @Param("warehouseCode") String warehouseCode);

	void insert(@Param("stock") StockId stock, @Param("available") long available);

	void update(InventoryRow row);

}
