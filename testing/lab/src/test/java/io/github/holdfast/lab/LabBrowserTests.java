package io.github.holdfast.lab;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;

import static io.github.holdfast.lab.LabPage.await;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The lab in a browser, from the button to the servers: nothing is recorded. What is hard
 * to meet there is in {@link LabPageTests}.
 */
@EnabledIf(value = "io.github.holdfast.lab.Chromium#isInstalled",
		disabledReason = "Chromium and its driver are not installed (Debian: chromium, chromium-driver)")
@Timeout(900)
class LabBrowserTests extends RunningLab {

	private static Chromium chromium;

	private static LabPage page;

	@BeforeAll
	static void startBrowser() throws IOException {
		chromium = Chromium.start();
		page = new LabPage(chromium.driver());
	}

	@AfterAll
	static void stopBrowser() throws IOException {
		try (Chromium closed = chromium) {
			assertThat(closed).isNotNull();
		}
	}

	@BeforeEach
	void openPage() {
		chromium.size(1280, 900, 1);
		page.open(url());
	}

	private String url() {
		return "http://localhost:" + this.port + "/lab/";
	}

	/** What each rung is about is seen after one click. */
	@ParameterizedTest
	@CsvSource({ "no-lock, memory-overwrite, wrong", "inside, redis-inside-transaction, wrong",
			"no-expiry, setnx-no-expiry, stuck", "no-owner, delete-without-owner, wrong",
			"freeze, redisson-watchdog, wrong", "lease, holdfast-redis-lease, wrong",
			"fence, holdfast-redis-fence, right", "update, conditional-update, right", "for-update, for-update, right",
			"version, optimistic-retry, right" })
	void rungShowsWhatItIsAbout(String rung, String strategy, String kind) {
		page.complaints();
		page.go(rung);
		page.click("#guess-" + kind);
		page.climb();
		assertThat(page.attribute("#result", "data-strategy")).isEqualTo(strategy);
		assertThat(page.attribute(".verdict", "data-kind")).isEqualTo(kind);
		assertThat(page.text("#rung .why")).contains("You guessed right.");
		assertThat(page.all("#rung .guilty, #rung .remedy")).isNotEmpty();
		if (kind.equals("wrong")) {
			page.click("#show-pair");
			page.press(Keys.END);
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

	/** What the page says while the lab is away is not what the lab said last. */
	@Test
	void labThatDoesNotAnswerIsSaidAndGoneOnWithWhenItIsBack() {
		page.choose("holdfast-redis-fence");
		fill(Map.of("stock", "1000", "orders", "200", "concurrency", "4", "workMs", "50"));
		page.script("document.getElementById('field-fault').value = 'none'");
		page.start();
		page.awaitState("RUNNING");
		chromium.offline(true);
		try {
			await().until(() -> page.text("#notice").contains("The lab is not running."));
			await().untilAsserted(() -> assertThat(page.texts("#result .chip")).containsExactly("Not known",
					"Node 1: not known", "Node 2: not known"));
			assertThat(page.find("#start").isEnabled()).isFalse();
		}
		finally {
			chromium.offline(false);
		}
		await().until(() -> !page.isDisplayed("#notice"));
		page.awaitState("FINISHED");
		await().until(() -> "right".equals(page.attribute(".verdict", "data-kind")));
	}

	private static void fill(Map<String, String> values) {
		page.script("document.querySelector('#orders details').open = true");
		values.forEach(page::fill);
	}

}
