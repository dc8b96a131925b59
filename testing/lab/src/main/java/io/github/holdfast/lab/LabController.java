package io.github.holdfast.lab;

import java.net.URI;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.http.converter.HttpMessageNotReadableException;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

import io.github.holdfast.lab.strategy.OrderView;
import io.github.holdfast.lab.strategy.StrategyType;

@RestController
@RequestMapping("/lab")
@Profile("lab")
record LabController(Runs runs, Lab.Properties properties) {

	@GetMapping("/info")
	Info info() {
		return new Info(RunRequest.LIMITS.nodes(), "MariaDB 11.4", "6.2", this.properties.leaseTime().toMillis(),
				this.properties.waitTime().toMillis(), RunRequest.LIMITS);
	}

	@GetMapping("/strategies")
	List<StrategyView> strategies() {
		return Stream.of(StrategyType.values())
			.map((type) -> new StrategyView(type.id(), type.group(), type.source(), Presets.of(type)))
			.toList();
	}

	@PostMapping("/runs")
	ResponseEntity<Run.View> start(@RequestBody JsonNode json) {
		RunRequest request = RequestReader.read(json);
		List<RunRequest.FieldProblem> problems = request.problems();
		if (!problems.isEmpty()) {
			throw LabException.invalid(problems);
		}
		Run run = this.runs.start(request);
		return ResponseEntity.created(URI.create("/lab/runs/" + run.id())).body(run.view());
	}

	@GetMapping("/runs")
	List<Run.View> list() {
		return this.runs.all().stream().map(Run::view).toList();
	}

	@GetMapping("/runs/{id:\\d+}")
	Run.View get(@PathVariable String id) {
		return this.runs.find(id).view();
	}

	@DeleteMapping("/runs/{id:\\d+}")
	@ResponseStatus(HttpStatus.ACCEPTED)
	void cancel(@PathVariable String id) {
		this.runs.find(id).cancel();
	}

	@GetMapping("/runs/{id:\\d+}/orders")
	List<OrderView> orders(@PathVariable String id, @RequestParam(required = false) @Nullable String strategy) {
		return this.runs.find(id).orders(strategy);
	}

	@GetMapping("/runs/{id:\\d+}/lost-update")
	ResponseEntity<Trial.LostUpdate> lostUpdate(@PathVariable String id,
			@RequestParam(required = false) @Nullable String strategy) {
		return this.runs.find(id)
			.firstLostUpdate(strategy)
			.map(ResponseEntity::ok)
			.orElseGet(() -> ResponseEntity.noContent().build());
	}

	@ExceptionHandler
	ProblemDetail unreadable(HttpMessageNotReadableException ex) {
		String reason = (ex.getCause() instanceof JacksonException cause) ? ": " + cause.getOriginalMessage() : "";
		return LabException.invalid("The request cannot be read" + reason, List.of()).getBody();
	}

	/**
	 * What the lab is.
	 *
	 * @param leaseMs how soon others get a lock whose holder has died or stands still
	 */
	record Info(int nodes, String database, String redis, long leaseMs, long waitMs, RunRequest.Limits limits) {
	}

	record StrategyView(String id, StrategyType.Group group, String source, RunRequest preset) {
	}

}
