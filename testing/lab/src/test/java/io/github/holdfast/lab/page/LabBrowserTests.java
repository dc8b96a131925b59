package io.github.holdfast.lab.page;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

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

	private static final Pattern VALUES = Pattern.compile("read (\\d+), wrote (\\d+)");

	private static final int ATTEMPTS = 10;

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

	@Test
	void wrongWayIsWatchedUntilOneSeesWhyItIsWrong() {
		page.choose("memory-overwrite");
		fill(Map.of("stock", "200", "orders", "400", "concurrency", "8", "workMs", "50"));
		start();
		await().until(() -> points() > 0);
		int points = points();
		await().until(() -> points() > points);
		assertThat(page.isDisplayed("#result .chip")).isTrue();
		page.awaitState("FINISHED");
		await().until(() -> page.isDisplayed("#show-lost"));
		assertThat(page.attribute(".verdict", "data-code")).isIn("OVERSOLD", "LOST_UPDATES");
		assertThat(page.text(".verdict")).contains("Lost updates");
		assertThat(page.text("#show-lost")).isEqualTo("Show me the first lost update");
		page.click("#show-lost");
		assertThat(page.all(".lanes .order")).hasSize(2);
		List<Matcher> values = await().until(() -> page.texts(".lanes .values text"), (texts) -> texts.size() == 2)
			.stream()
			.map(VALUES::matcher)
			.toList();
		assertThat(values).allMatch(Matcher::matches);
		String read = values.get(0).group(1);
		assertThat(values).extracting((value) -> value.group(1)).containsOnly(read);
		assertThat(values).extracting((value) -> value.group(2))
			.containsOnly(String.valueOf(Integer.parseInt(read) - 1));
		page.click("#step-next");
		assertThat(page.text("#steps .head")).contains("2 of ");
		page.press(Keys.END);
		assertThat(page.text("#steps .conclusion")).contains("had read " + read, "that update is lost");
	}

	private static void start() {
		String before = page.attribute("body", "data-run");
		page.start();
		awaitRunAfter(before);
	}

	/**
	 * The page shows the last run until the next one has begun.
	 */
	private static void awaitRunAfter(@Nullable String before) {
		await().until(() -> !Objects.equals(page.attribute("body", "data-run"), before));
	}

	/** Of a run that is going: afterwards, the line is there at once. */
	private static int points() {
		return "RUNNING".equals(page.attribute("body", "data-state")) ? page.points() : 0;
	}

	@Test
	void holdfastIsRightAndItsLocksAreSeen() {
		page.choose("holdfast-redis-fence");
		fill(Map.of("stock", "20", "orders", "40", "concurrency", "8", "workMs", "200"));
		start();
		await().untilAsserted(() -> {
			assertThat(page.all("#locks tbody tr[data-state=HELD]")).extracting(WebElement::getText)
				.anyMatch((text) -> text.matches("stock:run-\\d+:holdfast-redis-fence holds Node [12], .*"));
			assertThat(page.all("#locks tbody tr[data-state=WAITING]")).isNotEmpty();
		});
		page.awaitState("FINISHED");
		await().until(() -> "RIGHT".equals(page.attribute(".verdict", "data-code")));
		assertThat(page.attribute(".verdict", "data-kind")).isEqualTo("right");
		assertThat(page.text(".verdict")).contains("20 sold of 20, 0 left over");
		await().untilAsserted(() -> assertThat(page.text("#locks")).contains("Nobody holds a lock."));
	}

	@Test
	void wrongWayThatWasLuckyIsNotPraised() {
		page.choose("memory-overwrite");
		fill(Map.of("stock", "5", "orders", "5", "concurrency", "1"));
		start();
		page.awaitState("FINISHED");
		await().until(() -> "RIGHT".equals(page.attribute(".verdict", "data-code")));
		assertThat(page.attribute(".verdict", "data-kind")).isEqualTo("lucky");
		assertThat(page.text(".verdict")).contains("Right this time", "That was luck");
	}

	@Test
	void severalSkusShareTheStockAndEachHasItsLock() {
		page.choose("holdfast-redis-fence");
		fill(Map.of("stock", "20", "orders", "40", "concurrency", "8", "workMs", "200", "skus", "2"));
		start();
		await().until(() -> page.texts("#locks tbody tr[data-state=HELD]"), (held) -> held.size() == 2
				&& held.stream().anyMatch((text) -> text.matches("stock:run-\\d+:holdfast-redis-fence/2 holds .*")));
		page.awaitState("FINISHED");
		await().until(() -> "RIGHT".equals(page.attribute(".verdict", "data-code")));
		assertThat(page.text(".verdict")).contains("20 sold of 20, 0 left over");
	}

	/**
	 * What is chosen for the next run, which begins with a wrong way, is never shown with
	 * the verdict of another one.
	 */
	@Test
	void cardVerdictAndLanesAreThoseOfOneRun() {
		page.choose("memory-overwrite");
		fill(Map.of("stock", "200", "orders", "400", "concurrency", "8", "workMs", "20"));
		start();
		page.awaitState("FINISHED");
		String wrong = page.attribute("body", "data-run");
		page.choose("for-update");
		assertRunIs(wrong, "memory-overwrite");
		start();
		page.awaitState("FINISHED");
		String right = page.attribute("body", "data-run");
		assertRunIs(right, "for-update");
		page.choose("memory-overwrite");
		assertRunIs(right, "for-update");
		page.reload(url());
		assertRunIs(right, "for-update");
		assertThat(page.attribute("#next", "data-strategy")).isEqualTo("memory-overwrite");
		assertThat(page.text("#next")).contains("Next run: Check in memory, overwrite");
		page.inAnotherTab(url(), () -> {
			assertRunIs(right, "for-update");
			page.script("const list = document.querySelector('#result select'); list.value = arguments[0];"
					+ "list.dispatchEvent(new Event('change'))", wrong);
			assertRunIs(wrong, "memory-overwrite");
		});
		assertRunIs(right, "for-update");
	}

	/**
	 * What the page says while the lab is away is not what the lab said last.
	 */
	@Test
	void labThatDoesNotAnswerIsSaidAndGoneOnWithWhenItIsBack() {
		page.choose("holdfast-redis-fence");
		fill(Map.of("stock", "1000", "orders", "200", "concurrency", "4", "workMs", "50"));
		start();
		String run = page.attribute("body", "data-run");
		await().until(() -> points() > 0);
		chromium.offline(true);
		try {
			await().until(() -> page.text("#notice").contains("The lab does not answer"));
			await().untilAsserted(() -> assertThat(page.text("#locks")).contains("Not known"));
			assertThat(page.texts("#result .chip")).containsExactly("Not known");
			assertThat(page.texts("#nodes .chip")).containsExactly("not known", "not known");
			assertThat(page.find("#start").isEnabled()).isFalse();
		}
		finally {
			chromium.offline(false);
		}
		await().until(() -> !page.isDisplayed("#notice"));
		page.awaitState("FINISHED");
		assertRunIs(run, "holdfast-redis-fence");
		await().untilAsserted(() -> assertThat(page.text("#locks")).contains("Nobody holds a lock."));
	}

	@Test
	void experimentsShowTheOversellAndTheSaleThatVanishes() {
		page.complaints();
		experiment("oversell");
		assertThat(page.attribute(".verdict", "data-code")).isIn("OVERSOLD", "LOST_UPDATES");
		assertRunIs(page.attribute("body", "data-run"), "memory-overwrite");
		await().until(() -> page.isDisplayed("#show-lost"));
		assertThat(page.text("#show-lost")).isEqualTo("Show me the first lost update");
		experiment("freeze-redisson");
		assertThat(page.attribute(".verdict", "data-code")).isEqualTo("LOST_UPDATES");
		assertThat(page.attribute("#strategy", "data-strategy")).isEqualTo("redisson-watchdog");
		assertThat(page.attribute("#next", "data-strategy")).isEqualTo("memory-overwrite");
		assertThat(page.all(".lanes .holder")).hasSizeGreaterThan(100);
		assertThat(page.all(".lanes .together")).isNotEmpty();
		await().untilAsserted(() -> assertThat(
				page.text(".comparison [data-strategy=redisson-watchdog] [data-condition='FREEZE.WORK'] button"))
			.matches("✕ Lost updates \\d+/\\d+"));
		page.click("#show-lost");
		page.press(Keys.END);
		assertThat(page.text("#steps .conclusion")).contains("that update is lost");
		assertThat(page.complaints()).isEmpty();
	}

	/**
	 * The frozen transaction keeps the row of its lock locked, and the others wait.
	 */
	@Test
	void experimentWithHoldfastLosesNothing() {
		experiment("freeze-holdfast");
		assertThat(page.attribute(".verdict", "data-kind")).isEqualTo("right");
		await().until(() -> page.isDisplayed("#show-lost"));
		page.click("#show-lost");
		page.press(Keys.END);
		assertThat(page.text("#steps .conclusion")).contains("Nothing is lost");
	}

	private static void experiment(String id) {
		String before = page.attribute("body", "data-run");
		page.click("#experiment-" + id);
		awaitRunAfter(before);
		page.awaitState("FINISHED");
		await().until(() -> page.isDisplayed(".verdict strong"));
	}

	private static void assertRunIs(@Nullable String run, String strategy) {
		await().until(() -> Objects.equals(page.attribute("body", "data-run"), run));
		await().until(() -> page.isDisplayed(".verdict") && !page.all(".lanes .order").isEmpty());
		assertThat(List.of("#strategy", "#result", "#lanes"))
			.allSatisfy((part) -> assertThat(page.attribute(part, "data-strategy")).isEqualTo(strategy));
		assertThat(List.of("#result", "#lanes"))
			.allSatisfy((part) -> assertThat(page.attribute(part, "data-run")).isEqualTo(run));
		assertThat(page.attribute(".verdict", "data-kind"))
			.isEqualTo(strategy.equals("memory-overwrite") ? "wrong" : "right");
	}

	@Test
	void holderThatIsFrozenByTheButtonLosesAnUpdate() {
		page.choose("redis-px-lua");
		// Long enough for a click on a busy machine
		fill(Map.of("stock", "1000", "orders", "400", "concurrency", "8", "workMs", "30"));
		String verdict;
		int attempt = 0;
		do {
			start();
			await().until(() -> points() > 1);
			page.click("[aria-label='Freeze node 1 for 4 s']");
			await().until(() -> page.isDisplayed("#nodes [data-state=FROZEN]"));
			page.awaitState("FINISHED");
			verdict = await().until(() -> page.attribute(".verdict", "data-code"), Objects::nonNull);
			attempt++;
		}
		while ("RIGHT".equals(verdict) && attempt < ATTEMPTS);
		assertThat(verdict).isEqualTo("LOST_UPDATES");
		page.click("#show-lost");
		page.press(Keys.END);
		assertThat(page.text("#steps .conclusion")).contains("that update is lost");
	}

	@Test
	void allAreComparedByKeyboardOnAPhoneInAnotherLanguage() {
		chromium.size(360, 740, 1);
		page.remember(Map.of("language", "zh", "theme", "dark"));
		page.reload(url());
		page.tabTo("[name=strategy]:checked");
		page.choose("all");
		fill(Map.of("stock", "10", "orders", "20", "concurrency", "5"));
		page.tabTo("#field-orders");
		String before = page.attribute("body", "data-run");
		page.press(Keys.ENTER);
		awaitRunAfter(before);
		String right = ".comparison [data-condition=calm][data-kind=right] button";
		await().atMost(Duration.ofMinutes(10)).until(() -> !page.all(right).isEmpty());
		assertThat(page.attribute(right, "aria-label")).contains("正确");
		await().atMost(Duration.ofMinutes(10))
			.until(() -> !page.all(".comparison [data-condition=calm][data-kind=wrong]").isEmpty());
		assertThat(page.script("return document.documentElement.scrollWidth")).isEqualTo(360L);
		page.click("#result button.quiet");
		page.awaitState("CANCELLED");
	}

	private static void fill(Map<String, String> values) {
		page.script("document.querySelector('#orders details').open = true");
		values.forEach(page::fill);
	}

}
