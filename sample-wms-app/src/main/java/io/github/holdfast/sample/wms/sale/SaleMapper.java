package io.github.holdfast.sample.wms.sale;

import io.github.holdfast.sample.wms.sale.SaleService.Purchase;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Select;

@Mapper
interface SaleMapper {

	/** The number of items of the stock that the buyer has. */
	@Select("select coalesce(sum(quantity), 0) from purchase where customer_no = #{customerNo} "
			+ "and warehouse_code = #{warehouseCode} and sku = #{sku} and buyer_no = #{buyerNo}")
	long bought(Purchase purchase);

	@Insert("insert into purchase (request_id, customer_no, warehouse_code, sku, buyer_no, quantity) "
			+ "values (#{requestId}, #{customerNo}, #{warehouseCode}, #{sku}, #{buyerNo}, #{quantity})")
	void insert(Purchase purchase);

}
