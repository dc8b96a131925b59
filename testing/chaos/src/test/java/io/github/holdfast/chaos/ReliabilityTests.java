package io.github.holdfast.chaos;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

import static org.assertj.core.api.Assertions.assertThat;

/** The long run of the fault machine, which writes {@code target/runs/report.md}. */
@Tag("chaos")
class ReliabilityTests {

	@Test
	void nothingIsFoundAtFence() throws Exception {
		assertNothingIsFound(new Campaign(Campaign.WEATHERS, Campaign.ISOLATIONS));
	}

	@Test
	void nothingIsFoundWithoutFaultsAtTheHighestIsolationLevels() throws Exception {
		assertNothingIsFound(new Campaign(List.of(Weather.CALM), List.of(Isolation.SERIALIZABLE, Isolation.SNAPSHOT)));
	}

	private static void assertNothingIsFound(Campaign campaign) throws InterruptedException {
		assertThat(campaign.run(Long.getLong("holdfast.chaos.seed", 1), Integer.getInteger("holdfast.chaos.rounds", 4),
				Integer.getInteger("holdfast.chaos.lanes", 2),
				Duration.ofSeconds(Long.getLong("holdfast.chaos.seconds", 60))))
			.isEmpty();
	}

	@RepeatedTest(3)
	@EnabledIfSystemProperty(named = "holdfast.chaos.plan", matches = ".+")
	void nothingIsFoundInAPlanThatWasWrittenDown() throws Exception {
		Path file = Path.of(System.getProperty("holdfast.chaos.plan"));
		Run run = Run.of(Plan.parse(Files.readString(file)));
		assertThat(run.violations()).describedAs("%s with %s", run, file).isEmpty();
	}

}
