package io.github.holdfast.sample.wms.order;

import java.util.List;

import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Param;
import org.jspecify.annotations.Nullable;

/**
 * The statements on {@code outbound_order} and {@code outbound_order_detail}.
 */
@Mapper
public interface OrderMapper {

	@Nullable OrderRow find(String orderNo);

	List<OrderLine> findLines(String orderNo);

	void insert(Order order);

	void insertLines(Order order);

	void updateStatus(@Param("orderNo") String orderNo, @Param("status") OrderStatus status);

}
