package io.github.holdfast.sample.wms.report;

import java.util.List;

import io.github.holdfast.sample.wms.report.StockReportJob.StockReport;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/stock-reports")
class StockReportController {

	private final StockReportJob job;

	private final StockReportMapper reports;

	StockReportController(StockReportJob job, StockReportMapper reports) {
		this.job = job;
		this.reports = reports;
	}

	/** Runs the job. Returns 201, or 204 if it was skipped. */
	@PostMapping
	ResponseEntity<Void> take() {
		return ResponseEntity.status(this.job.take().isPresent() ? HttpStatus.CREATED : HttpStatus.NO_CONTENT).build();
	}

	@GetMapping
	List<StockReport> list() {
		return this.reports.list();
	}

}
