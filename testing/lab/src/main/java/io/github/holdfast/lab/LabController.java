package io.github.holdfast.lab;

import java.net.URI;
import java.util.List;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

import org.springframework.context.annotation.Profile;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

import io.github.holdfast.lab.strategy.Group;
import io.github.holdfast.lab.strategy.OrderView;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * The lab over HTTP.
 */
@RestController
@RequestMapping("/lab")
@Profile("lab")
class LabController {

	private final Runs runs;

	private final LabProperties properties;

	private final RequestReader reader = new RequestReader();

	LabController(Runs runs, LabProperties properties) {
		this.runs = runs;
		this.properties = properties;
	}

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
	ResponseEntity<RunView> start(@RequestBody JsonNode json) {
		RunRequest request = this.reader.read(json, RunRequest.class);
		List<RunRequest.FieldProblem> problems = request.problems();
		if (!problems.isEmpty()) {
			throw LabException.invalid(problems);
		}
		Run run = this.runs.start(request).orElseThrow(LabException::runInProgress);
		return ResponseEntity.created(URI.create("/lab/runs/" + run.id())).body(run.view());
	}

	@GetMapping("/runs")
	List<RunView> list() {
		return this.runs.all().stream().map(Run::view).toList();
	}

	@GetMapping("/runs/{id:\\d+}")
	RunView get(@PathVariable String id) {
		return find(id).view();
	}

	@DeleteMapping("/runs/{id:\\d+}")
	ResponseEntity<Void> cancel(@PathVariable String id) {
		find(id).cancel();
		return ResponseEntity.accepted().build();
	}

	@GetMapping("/runs/{id:\\d+}/orders")
	List<OrderView> orders(@PathVariable String id, @RequestParam(required = false) @Nullable String strategy) {
		return find(id).orders(strategy);
	}

	@GetMapping("/runs/{id:\\d+}/lost-update")
	ResponseEntity<Trial.LostUpdate> lostUpdate(@PathVariable String id,
			@RequestParam(required = false) @Nullable String strategy) {
		return find(id).firstLostUpdate(strategy)
			.map(ResponseEntity::ok)
			.orElseGet(() -> ResponseEntity.noContent().build());
	}

	private Run find(String id) {
		return this.runs.find(id).orElseThrow(() -> LabException.unknownRun(id));
	}

	/**
	 * What the lab is.
	 *
	 * @param leaseMs how soon others get a lock whose holder has died or stands still
	 */
	record Info(int nodes, String database, String redis, long leaseMs, long waitMs, RunRequest.Limits limits) {
	}

	record StrategyView(String id, Group group, String source, RunRequest preset) {
	}

}
