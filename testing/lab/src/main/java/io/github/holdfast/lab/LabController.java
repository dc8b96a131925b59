package io.github.holdfast.lab;

import java.net.URI;
import java.util.List;

import org.jspecify.annotations.Nullable;

import org.springframework.context.annotation.Profile;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.mvc.method.annotation.SseEmitter;

import io.github.holdfast.lab.strategy.Group;
import io.github.holdfast.lab.strategy.StrategyType;

/**
 * The lab over HTTP.
 */
@RestController
@RequestMapping("/lab")
@Profile("lab")
class LabController {

	private final Runs runs;

	private final LabNodes nodes;

	private final LabProperties properties;

	LabController(Runs runs, LabNodes nodes, LabProperties properties) {
		this.runs = runs;
		this.nodes = nodes;
		this.properties = properties;
	}

	@GetMapping("/info")
	Info info() {
		return new Info(RunRequest.LIMITS.nodes(), "MariaDB 11.4", "6.2", "3.9", this.properties.leaseTime().toMillis(),
				this.properties.waitTime().toMillis(), RunRequest.LIMITS);
	}

	@GetMapping("/strategies")
	List<StrategyView> strategies() {
		return List.of(StrategyType.values())
			.stream()
			.map((type) -> new StrategyView(type.id(), type.group(), type.title(), type.explanation(), type.weakness(),
					type.source()))
			.toList();
	}

	@PostMapping("/runs")
	ResponseEntity<RunView> start(@RequestBody RunRequest request) {
		List<RunRequest.FieldProblem> problems = request.problems();
		if (!problems.isEmpty()) {
			throw new InvalidRunException(problems);
		}
		Run run = this.runs.start(request).orElseThrow(RunInProgressException::new);
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

	@GetMapping(path = "/runs/{id:\\d+}.csv", produces = "text/csv")
	String csv(@PathVariable String id, @RequestParam(required = false) @Nullable String strategy) {
		return OrderCsv.of(find(id).orders(strategy));
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

	@GetMapping("/runs/{id:\\d+}/events")
	SseEmitter events(@PathVariable String id,
			@RequestHeader(name = "Last-Event-ID", defaultValue = "0") long lastSeen) {
		return find(id).watch(lastSeen);
	}

	@PostMapping("/runs/{id:\\d+}/faults")
	ResponseEntity<Fault> inject(@PathVariable String id, @RequestBody FaultRequest request) {
		Run run = find(id);
		List<RunRequest.FieldProblem> problems = request.problems(run.request().nodes(), "");
		if (!problems.isEmpty()) {
			throw new InvalidRunException(problems);
		}
		return ResponseEntity.accepted().body(run.inject(request).orElseThrow(NotRunningException::new));
	}

	@GetMapping("/locks")
	List<LockView> locks() {
		return this.nodes.locks();
	}

	private Run find(String id) {
		return this.runs.find(id).orElseThrow(() -> new UnknownRunException(id));
	}

	/**
	 * What the lab is.
	 *
	 * @param nodes how many nodes it starts at most
	 * @param database its database
	 * @param redis the version of Redis
	 * @param zookeeper the version of ZooKeeper
	 * @param leaseMs how soon others get a lock whose holder has died or stands still
	 * @param waitMs how long an order waits for others
	 * @param limits the most that can be asked for
	 */
	record Info(int nodes, String database, String redis, String zookeeper, long leaseMs, long waitMs,
			RunRequest.Limits limits) {
	}

	/**
	 * A strategy, as it is shown.
	 *
	 * @param id what it is called over HTTP
	 * @param group what it has in common with others
	 * @param title what it is called by people
	 * @param explanation what it does
	 * @param weakness what is wrong with it, or what it costs
	 * @param source its code
	 */
	record StrategyView(String id, Group group, String title, String explanation, String weakness, String source) {
	}

}
