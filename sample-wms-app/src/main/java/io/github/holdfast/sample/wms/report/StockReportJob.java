package io.github.holdfast.sample.wms.report;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.DistributedLock.OnBusy;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Counts all stock each minute, on the node that comes first. */
@Component
public class StockReportJob {

	private final StockReportMapper reports;

	private final String node;

	StockReportJob(StockReportMapper reports, @Value("${HOSTNAME:localhost}-${spring.application.pid}") String node) {
		this.reports = reports;
		this.node = node;
	}

	/**
	 * Takes a report, unless another node is doing so or has just done so. The lock is
	 * kept until the clocks of all nodes have passed the time of the job.
	 */
	@Scheduled(cron = "${wms.stock-report.cron}")
	@DistributedLock(name = "stock-report", key = "'stock-report'", waitTime = "0s", onBusy = OnBusy.SKIP,
			minHoldTime = "${wms.stock-report.min-hold-time}")
	@Transactional
	public Optional<Instant> take() {
		Instant now = Instant.now().truncatedTo(ChronoUnit.MILLIS);
		this.reports.insert(now, this.node);
		return Optional.of(now);
	}

	public record StockReport(Instant takenAt, String node, long skus, long items) {
	}

}
