package io.github.holdfast.documentation;

import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.observation.DefaultMeterObservationHandler;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import io.github.holdfast.LockListener;
import io.github.holdfast.LockMode;
import io.github.holdfast.observation.LockObservations;

import static org.assertj.core.api.Assertions.assertThat;

/** Alert rules, dashboard and page have the meters and tags that are recorded. */
class ObservedMetersTests {

	private static final Pattern METER = Pattern.compile("holdfast_[a-z_]+");

	private static final Pattern LABEL = Pattern.compile("([a-z_]+) *=~?\"|by \\(([a-z_, ]+)\\)");

	/** Labels that Prometheus and the application add. */
	private static final Set<String> OTHERS = Set.of("instance", "application");

	private static final Set<String> meters = new TreeSet<>();

	private static final Set<String> labels = new TreeSet<>(OTHERS);

	@BeforeAll
	static void record() {
		SimpleMeterRegistry registry = new SimpleMeterRegistry();
		ObservationRegistry observations = ObservationRegistry.create();
		observations.observationConfig().observationHandler(new DefaultMeterObservationHandler(registry));
		LockObservations listener = new LockObservations(observations);
		LockListener.Call call = new LockListener.Call(1, "stock", List.of("stock:A"), LockMode.OPTIMISTIC, "jdbc",
				"holdfast:");
		RuntimeException failure = new IllegalStateException();
		listener.onAttempt(call);
		listener.onBackendFailure(call, LockListener.Operation.ACQUIRE, failure);
		listener.onAcquired(call, Duration.ZERO);
		listener.onBackendFailure(call, LockListener.Operation.RENEW, failure);
		listener.onLost(call, "stock:A", Duration.ZERO);
		listener.onReleased(call, LockListener.Outcome.LOST, Duration.ZERO);
		for (Meter meter : registry.getMeters()) {
			meters.add(meter.getId().getName());
			meter.getId().getTags().stream().map(Tag::getKey).map(ObservedMetersTests::label).forEach(labels::add);
		}
	}

	private static String label(String name) {
		return name.replace('.', '_');
	}

	@ParameterizedTest
	@ValueSource(strings = { "docs/operate/prometheus-rules.yml", "docs/operate/grafana-dashboard.json" })
	void fileUsesRecordedMetersAndTags(String file) throws IOException {
		String text = Files.readString(Documentation.ROOT.resolve(file)).replace("\\\"", "\"");
		assertThat(found(METER, text)).isNotEmpty()
			.allSatisfy((name) -> assertThat(meters)
				.anyMatch((meter) -> name.matches(label(meter) + "(_total|_seconds(_count|_sum|_max)?)?")));
		assertThat(LABEL.matcher(text).results().flatMap(ObservedMetersTests::names)).isNotEmpty().isSubsetOf(labels);
	}

	private static Stream<String> names(MatchResult label) {
		return Stream.of(((label.group(1) != null) ? label.group(1) : label.group(2)).split(", "));
	}

	@Test
	void pageListsAllMeters() throws IOException {
		assertThat(Files.readString(Documentation.ROOT.resolve("docs/operations.md")))
			.contains(meters.stream().map((name) -> '`' + name + '`').toList());
	}

	private static List<String> found(Pattern pattern, String text) {
		return pattern.matcher(text).results().map(MatchResult::group).toList();
	}

}
