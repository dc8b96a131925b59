package io.github.holdfast.sample.wms.report;

import java.util.List;

import org.apache.ibatis.annotations.Mapper;

/**
 * The statements on {@code stock_report}.
 */
@Mapper
public interface StockReportMapper {

	StockTotal total();

	List<StockReport> list();

	void insert(StockReport report);

}
