package io.github.holdfast.sample.wms.report;

import java.util.List;

import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * Reports over HTTP.
 */
@RestController
@RequestMapping("/stock-reports")
class StockReportController {

	private final StockReportJob reports;

	StockReportController(StockReportJob reports) {
		this.reports = reports;
	}

	/**
	 * Does what the schedule does; nothing is the answer of a job that was skipped.
	 */
	@PostMapping
	ResponseEntity<StockReport> take() {
		return this.reports.take()
			.map((report) -> ResponseEntity.status(HttpStatus.CREATED).body(report))
			.orElseGet(() -> ResponseEntity.noContent().build());
	}

	@GetMapping
	List<StockReport> list() {
		return this.reports.list();
	}

}
