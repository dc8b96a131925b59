package io.github.holdfast.lab.page;

import java.io.IOException;
import java.time.Duration;
import java.util.Map;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;

import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import static io.github.holdfast.lab.page.LabPage.await;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The lab in a browser, from the button to the servers: nothing is recorded. What is hard
 * to meet there is in {@link LabPageTests}.
 */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("lab")
@DirtiesContext
@EnabledIf(value = "io.github.holdfast.lab.page.Chromium#isInstalled",
		disabledReason = "Chromium and its driver are not installed (Debian: chromium, chromium-driver)")
@Timeout(900)
@Tag("long")
class LabBrowserTests {

	private static Chromium chromium;

	private static LabPage page;

	@LocalServerPort
	private int port;

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
	void wrongWayThatWasLuckyIsNotPraised() {
		page.choose("memory-overwrite");
		fill(Map.of("stock", "5", "orders", "5", "concurrency", "1"));
		page.startAndWait();
		assertThat(page.attribute(".verdict", "data-kind")).isEqualTo("lucky");
		assertThat(page.text(".verdict")).contains("Right this time", "To break it:");
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

	@Test
	void severalSkusShareTheStock() {
		page.choose("holdfast-redis-fence");
		fill(Map.of("stock", "20", "orders", "40", "concurrency", "8", "workMs", "20", "skus", "2"));
		page.script("document.getElementById('field-fault').value = 'none'");
		page.startAndWait();
		assertThat(page.attribute(".verdict", "data-kind")).isEqualTo("right");
		assertThat(page.text(".verdict")).contains("20 sold of 20, 0 left");
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

	@Test
	void allAreComparedOnAPhoneInAnotherLanguage() {
		chromium.size(360, 740, 1);
		page.remember(Map.of("language", "zh"));
		page.reload(url());
		page.choose("all");
		fill(Map.of("stock", "10", "orders", "20", "concurrency", "5"));
		page.start();
		String right = ".comparison [data-condition=calm][data-kind=right] button";
		await().atMost(Duration.ofMinutes(10)).until(() -> !page.all(right).isEmpty());
		assertThat(page.attribute(right, "aria-label")).contains("正确");
		await().atMost(Duration.ofMinutes(10))
			.until(() -> !page.all(".comparison [data-condition=calm][data-kind=wrong]").isEmpty());
		assertThat(page.script("return document.documentElement.scrollWidth")).isEqualTo(360L);
		page.click("#cancel");
		page.awaitState("CANCELLED");
	}

	private static void fill(Map<String, String> values) {
		page.script("document.querySelector('#orders details').open = true");
		values.forEach(page::fill);
	}

}
