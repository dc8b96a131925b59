package io.github.holdfast.lab;

import java.io.IOException;

import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import io.github.holdfast.lab.Rungs.Rung;

import static io.github.holdfast.lab.LabPage.await;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The lab in a browser, from the button to the servers: nothing is recorded. What is hard
 * to meet there is in {@link LabPageTests}.
 */
@EnabledIf(value = "io.github.holdfast.lab.LabPage#isInstalled",
		disabledReason = "Chromium and its driver are not installed (Debian: chromium, chromium-driver)")
@Timeout(900)
class LabBrowserTests extends RunningLab {

	@AutoClose
	private static LabPage page;

	@BeforeAll
	static void startBrowser() throws IOException {
		page = LabPage.launch();
	}

	@BeforeEach
	void openPage() {
		page.size(1280, 900, 1);
		page.open("http://localhost:" + this.port + "/lab/");
	}

	/** What each rung is about is seen after one click. */
	@ParameterizedTest
	@MethodSource("io.github.holdfast.lab.Rungs#all")
	void rungShowsWhatItIsAbout(Rung rung) {
		page.complaints();
		page.go(rung.id());
		page.click("#guess-" + rung.expected());
		page.climb();
		assertThat(page.attribute("#result", "data-strategy")).isEqualTo(rung.strategy().id());
		assertThat(page.attribute(".verdict", "data-kind")).isEqualTo(rung.expected());
		assertThat(page.text("#rung .why")).contains("You guessed right.");
		assertThat(page.all("#rung .guilty, #rung .remedy")).isNotEmpty();
		if (rung.expected().equals("wrong")) {
			page.goToTheLastStep();
			assertThat(page.text("#show-pair")).isEqualTo("Step through the first lost update");
			assertThat(page.text("#steps .conclusion")).containsAnyOf("one sale is lost", "are overwritten");
		}
		assertThat(page.complaints()).isEmpty();
	}

	@Test
	void numberThatIsNotWholeStartsNothing() {
		page.choose("memory-overwrite");
		page.script("document.getElementById('field-stock').value = '1.5'");
		String before = page.attribute("body", "data-run");
		page.start();
		await().untilAsserted(() -> assertThat(page.text("#stock-error")).isEqualTo("A whole number, please."));
		assertThat(page.attribute("body", "data-run")).isEqualTo(before);
	}

}
