package io.github.holdfast.sample.wms.report;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Optional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.DistributedLock.OnBusy;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Counts all stock from time to time, on the node that comes first.
 */
@Service
public class StockReportJob {

	private final StockReportMapper reports;

	private final String node;

	StockReportJob(StockReportMapper reports, @Value("${spring.application.pid}") String node) {
		this.reports = reports;
		this.node = node;
	}

	/**
	 * Takes a report, unless another node does or has just done so. The lock is kept
	 * until the clocks of all nodes have passed the time of the job.
	 * @return the report, or nothing if it was skipped
	 */
	@Scheduled(cron = "${wms.stock-report.cron}")
	@DistributedLock(name = "stock-report", key = "'stock-report'", waitTime = "0s", onBusy = OnBusy.SKIP,
			minHoldTime = "${wms.stock-report.min-hold-time}")
	@Transactional
	public Optional<StockReport> take() {
		StockTotal total = this.reports.total();
		StockReport report = new StockReport(Instant.now().truncatedTo(ChronoUnit.MILLIS), this.node, total.skus(),
				total.pieces());
		this.reports.insert(report);
		return Optional.of(report);
	}

	/**
	 * Reads all reports.
	 * @return the reports, the oldest first
	 */
	public List<StockReport> list() {
		return this.reports.list();
	}

}
