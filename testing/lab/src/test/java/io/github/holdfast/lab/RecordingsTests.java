package io.github.holdfast.lab;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

import io.github.holdfast.lab.Rungs.Recording;
import io.github.holdfast.lab.Rungs.Rung;

import static org.assertj.core.api.Assertions.assertThat;

/** The recordings that the page plays are what the lab would say now. */
class RecordingsTests {

	private final JsonMapper json = new JsonMapper();

	@ParameterizedTest
	@MethodSource("io.github.holdfast.lab.Rungs#all")
	void recordingHasTheFormatOfNow(Rung rung) {
		JsonNode recorded = read(rung.strategy().id());
		Recording recording = this.json.treeToValue(recorded, Recording.class);
		assertThat(recorded).isEqualTo(this.json.readTree(this.json.writeValueAsString(recording)));
		assertThat(Rungs.kind(recording.run())).isEqualTo(rung.expected());
		assertThat(recording.run().request()).isEqualTo(Presets.of(rung.strategy()));
		assertThat(recording.columns()).isEqualTo(Rungs.COLUMNS);
		assertThat(recording.orders()).hasSize(recording.run().request().orders())
			.allMatch((order) -> order.size() == Rungs.COLUMNS.size());
		assertThat(recording.lost() != null).isEqualTo(rung.expected().equals("wrong"));
	}

	/** With {@code -Dlab.record}, this is recorded, too. */
	@Test
	void labIsTheOneOfNow() throws IOException {
		List<String> ids = Rungs.all().stream().map((rung) -> rung.strategy().id()).toList();
		LabController lab = new LabController(null,
				new Lab.Properties(false, Duration.ofMillis(1500), Duration.ofSeconds(5)));
		JsonNode now = this.json.readTree(this.json.writeValueAsString(Map.of("info", lab.info(), "strategies",
				lab.strategies().stream().filter((each) -> ids.contains(each.id())).toList())));
		if (Rungs.RECORD != null) {
			Rungs.write(Rungs.file("lab"), now);
		}
		assertThat(read("lab")).isEqualTo(now);
	}

	private JsonNode read(String name) {
		return this.json.readTree(Rungs.file(name));
	}

}
