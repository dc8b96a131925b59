package io.github.holdfast.sample.wms.sale;

import org.apache.ibatis.annotations.Mapper;

/**
 * The statements on {@code purchase}. None of them guards the limit: whoever writes holds
 * the lock of the stock.
 */
@Mapper
public interface SaleMapper {

	/**
	 * How many pieces of the stock the buyer has bought.
	 */
	long bought(Purchase purchase);

	void insert(Purchase purchase);

}
