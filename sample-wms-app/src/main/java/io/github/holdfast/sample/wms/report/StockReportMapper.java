package io.github.holdfast.sample.wms.report;

import java.time.Instant;
import java.util.List;

import io.github.holdfast.sample.wms.report.StockReportJob.StockReport;
import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Select;

@Mapper
interface StockReportMapper {

	@Insert("insert into stock_report (taken_at, node, skus, items) "
			+ "select #{takenAt}, #{node}, count(*), coalesce(sum(available), 0) from stock")
	void insert(Instant takenAt, String node);

	@Select("select taken_at, node, skus, items from stock_report order by taken_at")
	List<StockReport> list();

}
