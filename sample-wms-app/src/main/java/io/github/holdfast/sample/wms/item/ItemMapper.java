package io.github.holdfast.sample.wms.item;

import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.jspecify.annotations.Nullable;

/**
 * The statements on {@code item}. None of them guards itself, and the table accepts an
 * SKU twice: the lock of the item lets one commit after the other.
 */
@Mapper
public interface ItemMapper {

	@Nullable String findExtension(String sku);

	void insert(@Param("sku") String sku, @Param("extension") String extension);

	void update(@Param("sku") String sku, @Param("extension") String extension);

}
