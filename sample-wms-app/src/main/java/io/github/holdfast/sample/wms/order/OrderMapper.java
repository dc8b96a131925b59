package io.github.holdfast.sample.wms.order;

import java.util.List;
import java.util.Optional;

import io.github.holdfast.sample.wms.order.Order.Line;
import io.github.holdfast.sample.wms.order.Order.Status;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;

@Mapper
interface OrderMapper {

	@Select("select customer_no, warehouse_code, status from outbound_order where order_no = #{orderNo}")
	Optional<Header> findHeader(String orderNo);

	@Select("select sku, quantity from outbound_order_line where order_no = #{orderNo} order by line_no")
	List<Line> findLines(String orderNo);

	@Insert("insert into outbound_order (order_no, customer_no, warehouse_code, status) "
			+ "values (#{orderNo}, #{customerNo}, #{warehouseCode}, #{status})")
	void insert(Order order);

	@Insert("insert into outbound_order_line (order_no, line_no, sku, quantity) "
			+ "values (#{orderNo}, #{lineNo}, #{line.sku}, #{line.quantity})")
	void insertLine(String orderNo, int lineNo, Line line);

	@Update("update outbound_order set status = #{status} where order_no = #{orderNo}")
	void updateStatus(String orderNo, Status status);

	record Header(String customerNo, String warehouseCode, Status status) {
	}

}
