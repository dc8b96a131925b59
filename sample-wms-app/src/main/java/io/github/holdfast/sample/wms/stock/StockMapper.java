package io.github.holdfast.sample.wms.stock;

import java.util.List;
import java.util.Optional;

import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;

/**
 * The statements on {@code stock}. They write computed values without a condition on the
 * old ones, so callers hold the {@link StockLock}.
 */
@Mapper
interface StockMapper {

	@Select("select * from stock "
			+ "where customer_no = #{customerNo} and warehouse_code = #{warehouseCode} and sku = #{sku}")
	Optional<Stock> find(StockId id);

	@Select("select * from stock where customer_no = #{customerNo} and warehouse_code = #{warehouseCode} order by sku")
	List<Stock> list(String customerNo, String warehouseCode);

	@Insert("insert into stock (customer_no, warehouse_code, sku, available) "
			+ "values (#{customerNo}, #{warehouseCode}, #{sku}, #{available})")
	void insert(Stock stock);

	@Update("update stock set available = #{available} "
			+ "where customer_no = #{customerNo} and warehouse_code = #{warehouseCode} and sku = #{sku}")
	void update(Stock stock);

}
