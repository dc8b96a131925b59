package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openqa.selenium.Keys;

import org.springframework.core.io.ClassPathResource;

import io.github.holdfast.lab.Rungs.Rung;

import static io.github.holdfast.lab.LabPage.await;
import static org.assertj.core.api.Assertions.assertThat;

/** What the page does with what the lab says. */
@Tag("long")
@EnabledIf(value = "io.github.holdfast.lab.LabPage#isInstalled",
		disabledReason = "Chromium and its driver are not installed (Debian: chromium, chromium-driver)")
@Timeout(180)
class LabPageTests {

	private static final int PHONE = 360;

	@AutoClose
	private static RecordedLab lab;

	@AutoClose
	private static LabPage page;

	@BeforeAll
	static void startBrowser() throws IOException {
		lab = new RecordedLab();
		page = LabPage.launch();
	}

	@BeforeEach
	void openPage() {
		lab.reset();
		page.size(1280, 900, 1);
		page.prefer("light");
		page.open(lab.url());
	}

	@Test
	void ladderHasSevenRungsAndThreeWaysWithoutLock() {
		assertThat(page.all("#ladder ol a")).extracting((link) -> link.getDomAttribute("href"))
			.containsExactly("#no-lock", "#inside", "#no-expiry", "#no-owner", "#freeze", "#lease", "#fence");
		assertThat(page.all("#ladder ul a")).extracting((link) -> link.getDomAttribute("href"))
			.containsExactly("#update", "#for-update", "#version", "#all");
		assertThat(page.all("#ladder a").stream().map((link) -> link.getDomAttribute("href")).toList())
			.allSatisfy((address) -> {
				page.click("#ladder a[href='" + address + "']");
				String view = String.valueOf(address).substring(1);
				await().until(() -> view.equals(page.attribute("body", "data-view")));
				assertThat(page.attribute("#ladder [aria-current]", "href")).isEqualTo(address);
				assertThat(page.script("return document.activeElement.hash")).isEqualTo(address);
				assertThat(page.isDisplayed("#rung")).isNotEqualTo(view.equals("all"));
				assertThat(page.isDisplayed("#setup")).isEqualTo(view.equals("all"));
			});
	}

	@Test
	void rungIsGuessedRunAndExplained() {
		page.go("freeze");
		assertThat(page.text("#rung h2")).isEqualTo("Freeze a Redisson holder: its late commit erases other sales");
		assertThat(page.all("#rung .guilty")).isEmpty();
		assertThat(page.isDisplayed("#rung .why")).isFalse();
		page.click("#guess-right");
		assertThat(page.text("#rung .guilty")).contains("transaction.deduct(sku)");
		page.climb();
		assertThat(lab.lastRequest()).contains("\"strategy\":\"redisson-watchdog\"", "\"kind\":\"FREEZE\"",
				"\"moment\":\"WORK\"");
		assertThat(page.attribute(".verdict", "data-code")).isEqualTo("LOST_UPDATES");
		assertThat(page.text(".verdict")).contains("sales were overwritten: the database says", "really", "are left");
		assertThat(page.text("#rung .why")).contains("Your guess was different.",
				"nothing checks the lock at the commit");
		page.click("#rung .why a");
		await().until(() -> "lease".equals(page.attribute("body", "data-view")));
	}

	@Test
	void addressLeadsToItsRungAndToItsLastRun() {
		page.show("freeze");
		page.go("inside");
		assertThat(page.text("#result")).contains("Nothing has run here yet");
		page.script("location.hash = 'freeze'");
		await().until(() -> "redisson-watchdog".equals(page.attribute("#result", "data-strategy")));
		page.reload(lab.url() + "#freeze");
		assertThat(page.attribute("#rung", "data-rung")).isEqualTo("freeze");
		await().until(() -> "LOST_UPDATES".equals(page.attribute(".verdict", "data-code")));
	}

	@Test
	void runThatWasLuckyIsRepeatedButNotForEver() {
		page.go("no-lock");
		lab.beLucky(2);
		page.climb();
		assertThat(lab.started()).isEqualTo(3);
		assertThat(page.attribute(".verdict", "data-code")).isEqualTo("OVERSOLD");
		lab.beLucky(100);
		page.climb();
		assertThat(lab.started()).isEqualTo(8);
		assertThat(page.text(".verdict")).contains("Right this time",
				"No damage this time, but it is not safe. To break it: send more orders at once, to two nodes.");
	}

	@Test
	void verdictOfTheWrongWayLeadsToTheStepsOfTheFirstLostUpdate() {
		page.run("memory-overwrite");
		assertThat(page.attribute(".verdict", "data-code")).isEqualTo("OVERSOLD");
		assertThat(page.text(".verdict")).contains("Oversold", "pieces sold, only 100 existed. The database says");
		assertThat(page.text("[data-fact=oversold].bad")).containsPattern("[1-9]");
		assertThat(page.attribute(".verdict", "aria-live")).isEqualTo("polite");
		await().until(() -> page.isDisplayed("#steps"));
		assertThat(page.text("#show-pair")).isEqualTo("Step through the first lost update");
		assertThat(page.script("return document.querySelector('#steps').previousElementSibling.id"))
			.isEqualTo("result");
		page.click("#show-pair");
		assertThat(page.text("#steps .head")).contains("1 of ");
		assertThat(page.attribute("#step-previous", "aria-disabled")).isEqualTo("true");
		page.click("#step-next");
		assertThat(page.text("#steps .head")).contains("2 of ");
		page.press(Keys.END);
		assertThat(page.attribute("#step-next", "aria-disabled")).isEqualTo("true");
		assertThat(page.text("#steps .conclusion")).contains("had read ")
			.containsAnyOf("one sale is lost", "are overwritten");
		page.press(Keys.ARROW_LEFT);
		assertThat(page.attribute("#step-next", "aria-disabled")).isEqualTo("false");
		page.press(Keys.HOME);
		assertThat(page.text("#steps .said")).endsWith("arrives.");
		assertThat(page.text("#step-play")).contains("Play");
		page.click("#step-play");
		await().untilAsserted(() -> assertThat(page.text("#steps .head")).contains("3 of "));
		assertThat(page.text("#step-play")).contains("Pause");
		page.press(Keys.HOME);
		assertThat(page.text("#step-play")).contains("Play");
		page.script("const scrub = document.getElementById('step-scrub'); scrub.value = scrub.max;"
				+ "scrub.dispatchEvent(new Event('input'))");
		assertThat(page.isDisplayed("#steps .conclusion")).isTrue();
		assertThat(page.attribute("#step-next", "aria-disabled")).isEqualTo("true");
		page.click("#step-play");
		await().untilAsserted(() -> assertThat(page.text("#steps .head")).contains("2 of "));
	}

	@Test
	void verdictOfTheRightWayIsRight() {
		page.run("for-update");
		assertThat(page.attribute(".verdict", "data-code")).isEqualTo("RIGHT");
		assertThat(page.text(".verdict")).contains("100 sold of 100, 0 left");
		assertThat(page.all(".facts .bad")).isEmpty();
		await()
			.untilAsserted(() -> assertThat(page.text("#show-pair")).isEqualTo("Step through two overlapping orders"));
	}

	/**
	 * Between the two orders lie commits of others: the database is never said to be as
	 * only these two have left it.
	 */
	@Test
	void stepsTellWhatTheDatabaseSaidWhenOthersHaveCommitted() {
		page.show("freeze");
		await().until(() -> page.isDisplayed("#steps"));
		Map<?, ?> lost = (Map<?, ?>) page.script("""
				return fetch(`runs/${document.body.dataset.run}/lost-update`).then((answer) => answer.json())""");
		String others = String.valueOf(((Number) lost.get("overwritten")).longValue() - 1);
		assertThat(page.text("#steps .stock .others")).isEqualTo(others + " other orders commit");
		assertThat(page.script("return document.querySelector('#steps .stock .others').nextElementSibling.textContent"))
			.isEqualTo(String.valueOf(lost.get("stockBefore")));
		page.goToTheLastStep();
		assertThat(isSeen("#steps .conclusion")).isEqualTo(true);
		assertThat(page.text("#steps .conclusion")).contains("Before it committed", lost.get("overwritten")
				+ " other sales were committed and the database said " + lost.get("stockBefore"));
	}

	@Test
	void refusedCommitTellsWhatItWouldHaveErased() {
		page.choose("holdfast-redis-lease");
		page.script("document.getElementById('field-fault').value = 'FREEZE.WORK'");
		page.startAndWait();
		assertThat(page.text(".verdict")).contains("would have erased", "sale");
		await().untilAsserted(() -> assertThat(page.text("#show-pair")).isEqualTo("Step through the refused commit"));
		page.goToTheLastStep();
		assertThat(page.text("#steps .conclusion")).contains("Its commit was refused: nothing is lost.");
	}

	/**
	 * A process that was frozen between the answer of the database and its look at the
	 * clock has noted that it read after the other one had committed.
	 */
	@ParameterizedTest
	@CsvSource({ "second.readAt = lost.first.commit + 1, Step through the first lost update",
			"overwritten = 0, Step through the first sale too many" })
	void whatIsLostIsWhatTheDatabaseSays(String answer, String title) {
		page.script("""
				const realFetch = window.fetch;
				window.fetch = async (...request) => {
					const answer = await realFetch(...request);
					if (!String(request[0]).includes('lost-update')) {
						return answer;
					}
					const lost = await answer.json();
					lost.%s;
					return new Response(JSON.stringify(lost), answer);
				};""".formatted(answer));
		page.run("memory-overwrite");
		page.goToTheLastStep();
		assertThat(page.text("#show-pair")).isEqualTo(title);
		assertThat(page.text("#steps .conclusion")).contains("had read ")
			.containsAnyOf("one sale is lost", "are overwritten");
	}

	/** So that a page of static files shows each rung. */
	@Test
	void recordedRunsAreShownWhereNoLabAnswers() throws IOException {
		lab.beAbsent();
		page.reload(lab.url());
		assertThat(page.text("#notice")).startsWith("No lab is running, so you see recorded runs.");
		assertThat(page.isDisplayed("#ladder a[href='#all']")).isFalse();
		List<Rung> rungs = Rungs.all();
		assertThat(rungs).hasSize(10);
		for (Rung rung : rungs) {
			page.show(rung.id());
			assertThat(page.attribute(".verdict", "data-kind")).isEqualTo(rung.expected());
			if (rung.expected().equals("wrong")) {
				assertThat(page.text("#show-pair")).isEqualTo("Step through the first lost update");
			}
		}
		assertThat(lab.started()).isZero();
	}

	/** Each of them has an address, which may ask for other numbers. */
	@Test
	void addressChoosesAmongAllApproaches() {
		page.reload(lab.url() + "#all/redisson-watchdog?stock=1000&fault=PROMOTE_REPLICA");
		assertThat(page.find("[name=strategy]:checked").getDomProperty("value")).isEqualTo("redisson-watchdog");
		assertThat(valueOf("fault")).isEqualTo("PROMOTE_REPLICA");
		assertThat(valueOf("stock")).isEqualTo("1000");
		assertThat(valueOf("orders")).isEqualTo("120");
		page.choose("for-update");
		page.reload(String.valueOf(page.script("return location.href")));
		assertThat(page.find("[name=strategy]:checked").getDomProperty("value")).isEqualTo("for-update");
		page.reload(lab.url() + "#all/memory-overwrite?stock=1000&orders=2&quantities=200,300");
		page.startAndWait();
		assertThat(lab.lastRequest()).contains("\"stock\":1000,\"orders\":2,", "\"quantities\":[200,300]");
	}

	@Test
	void nothingIsComplainedAboutInTheConsole() {
		page.complaints();
		page.climb();
		page.run("memory-overwrite");
		page.run("all");
		page.reload(lab.url());
		page.awaitState("FINISHED");
		assertThat(page.complaints()).isEmpty();
	}

	@Test
	void strategyFillsInWhatShowsItsWeakness() {
		page.choose("redisson-watchdog");
		assertThat(valueOf("fault")).isEqualTo("FREEZE.WORK");
		assertThat(valueOf("orders")).isEqualTo("120");
		page.startAndWait();
		assertThat(lab.lastRequest())
			.contains("\"faults\":[{\"atMs\":0,\"kind\":\"FREEZE\",\"node\":1,\"millis\":3000,\"moment\":\"WORK\"}]")
			.doesNotContain("null");
		page.choose("for-update");
		assertThat(valueOf("fault")).isEqualTo("none");
		page.script("document.getElementById('field-fault').value = 'FREEZE.COMMIT'");
		page.startAndWait();
		assertThat(lab.lastRequest()).contains("\"strategy\":\"for-update\"",
				"\"faults\":[{\"atMs\":100,\"node\":1,\"millis\":3000,\"kind\":\"FREEZE\",\"moment\":\"COMMIT\"}]");
	}

	private static @Nullable String valueOf(String field) {
		return page.find("#field-" + field).getDomProperty("value");
	}

	@Test
	void cellOfTheComparisonLeadsToItsRun() {
		page.run("all");
		assertThat(page.text(".comparison [data-strategy=memory-overwrite]")).contains("Oversold");
		page.run("memory-overwrite");
		await().untilAsserted(
				() -> assertThat(page.text(calm("memory-overwrite"))).matches("✕ Oversold 2/2 · [\\d,]+ orders/s"));
		assertThat(page.text(calm("for-update"))).matches("✓ Right 1/1 · [\\d,]+ orders/s");
		page.click(calm("for-update"));
		await().untilAsserted(() -> assertThat(page.text("#strategy h2")).isEqualTo("SELECT … FOR UPDATE"));
		assertThat(page.attribute(calm("for-update"), "aria-pressed")).isEqualTo("true");
		assertThat(page.attribute(".verdict", "data-code")).isEqualTo("RIGHT");
		assertThat(page.text("#result h2")).contains("SELECT … FOR UPDATE");
		assertThat(page.script("return document.activeElement.id")).isEqualTo("result");
		assertThat(isSeen(".verdict")).isEqualTo(true);
		List.of(1366, 1280, PHONE).forEach((width) -> {
			page.size(width, 768, 1);
			assertThat(page.script("const table = document.querySelector('#comparison .scroll');"
					+ "return table.scrollWidth - table.clientWidth"))
				.isEqualTo(0L);
		});
	}

	private static String calm(String strategy) {
		return ".comparison [data-strategy=" + strategy + "] [data-condition=calm] button";
	}

	@Test
	void whatIsRefusedIsMarked() {
		page.go("all");
		page.fill("stock", "-1");
		page.fill("nodes", "0");
		page.start();
		await().untilAsserted(() -> assertThat(page.text("#setup-error")).contains("Look at the marked fields"));
		assertThat(page.text("#nodes-error")).isEqualTo("From 1 to 4.");
		assertThat(page.text("#stock-error")).isEqualTo("From 0 to 1,000,000.");
		assertThat(page.attribute("#field-stock", "aria-invalid")).isEqualTo("true");
		assertThat(page.attribute("#field-orders", "aria-invalid")).isEqualTo("false");
		assertThat(page.script("return document.activeElement.name")).isEqualTo("stock");
		assertThat(page.find("#start").isEnabled()).isTrue();
	}

	/** A lab that was started again has forgotten the run, and begins to count anew. */
	@ParameterizedTest
	@CsvSource({ "true, 503", "false, 0" })
	void labThatWasAwayIsAskedWhatThereIs(boolean forgets, int status) {
		lab.hold();
		page.choose("for-update");
		page.start();
		page.awaitState("RUNNING");
		lab.leave(status, () -> {
			await().until(() -> page.text("#notice").matches("The lab is not running.*The page resumes when .*"));
			assertThat(page.texts("#result .chip")).containsExactly("Not known", "Node 1: not known",
					"Node 2: not known");
			assertThat(page.find("#start").isEnabled()).isFalse();
			lab.proceed();
			if (forgets) {
				lab.reset();
			}
		});
		await().until(() -> !page.isDisplayed("#notice"));
		if (forgets) {
			page.awaitState("");
			assertThat(page.text("#result")).contains("Nothing has run here yet");
			page.run("for-update");
		}
		await().until(() -> "RIGHT".equals(page.attribute(".verdict", "data-code")));
	}

	/** Six open streams were all that a browser grants to one server. */
	@Test
	void runThatIsGoingIsShownToWhoComesLateInTheSeventhTabToo() {
		lab.hold();
		page.choose("for-update");
		page.start();
		page.awaitState("RUNNING");
		assertThat(page.find("#start").isEnabled()).isFalse();
		page.reload(lab.url());
		page.awaitState("RUNNING");
		assertThat(page.texts("#result .nodes .chip")).containsExactly("Node 1: up", "Node 2: up");
		page.inOtherTabs(lab.url(), 7, () -> page.awaitState("RUNNING"));
		lab.proceed();
		page.awaitState("FINISHED");
	}

	@Test
	void languageIsSwitchedAndRemembered() {
		page.run("memory-overwrite");
		page.speak("zh");
		await().untilAsserted(() -> assertThat(page.text(".verdict strong")).isEqualTo("超卖"));
		page.reload(lab.url());
		assertThat(page.attribute("html", "lang")).isEqualTo("zh-CN");
		assertThat(page.find("#language").getDomProperty("value")).isEqualTo("zh");
	}

	@Test
	void everythingIsDoneByKeyboardAlone() {
		page.tabTo("#ladder a[href='#no-lock']");
		page.press(Keys.ENTER);
		page.tabTo("#guess-wrong");
		page.press(Keys.ENTER);
		assertThat(page.attribute("#guess-wrong", "aria-pressed")).isEqualTo("true");
		page.tabTo("#climb");
		page.press(Keys.ENTER);
		page.awaitState("FINISHED");
		await().until(() -> page.isDisplayed("#show-pair"));
		page.tabTo("#show-pair");
		page.press(Keys.ENTER);
		assertThat(page.script("return document.activeElement.id")).isEqualTo("step-next");
		page.press(Keys.ARROW_RIGHT);
		assertThat(page.text("#steps .head")).contains("2 of ");
	}

	@Test
	void nothingIsCutOffOnAPhone() {
		page.size(PHONE, 740, 1);
		for (String view : List.of("no-lock", "freeze", "all")) {
			page.show(view);
			List.of("zh", "en").forEach((code) -> {
				page.speak(code);
				assertThat(page.script("return document.documentElement.scrollWidth")).as(code).isEqualTo((long) PHONE);
				assertThat(cutOff()).as(code).isEmpty();
			});
		}
	}

	/** The texts of elements whose content is wider than they are. */
	private static List<?> cutOff() {
		return (List<?>) page
			.script("""
					return [...document.querySelectorAll('button, .button, .chip, label, dt, dd, h1, h2, th, td, p, summary')]
						.filter((element) => element.checkVisibility() && !element.matches('.unseen')
						&& element.scrollWidth > element.clientWidth + 1
							&& element.clientWidth > 0)
						.map((element) => element.outerHTML)""");
	}

	/** The size of what many notebooks show. */
	@Test
	void rungIsRunAndJudgedWithoutScrolling() {
		page.size(1366, 768, 1);
		page.reload(lab.url());
		List.of("zh", "en").forEach((code) -> {
			page.speak(code);
			assertThat(List.of("#climb", "#guess-stuck", "#ladder a[href='#all']", ".code-lines"))
				.allSatisfy((control) -> assertThat(isSeen(control)).as(code).isEqualTo(true));
		});
		page.climb();
		assertThat(isSeen(".verdict")).isEqualTo(true);
	}

	private static @Nullable Object isSeen(String selector) {
		return page.script("""
				const { top, bottom, left, right } = document.querySelector(arguments[0]).getBoundingClientRect();
				return top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth
						&& document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
							.closest(arguments[0]) !== null""", selector);
	}

	@ParameterizedTest
	@CsvSource({ "1366, 768, light, freeze", "390, 844, dark, freeze", "390, 844, light, all", "1366, 768, dark, all",
			"1366, 768, light, no-lock", "1366, 768, dark, no-lock" })
	void axeFindsNoViolation(int width, int height, String scheme, String view) throws IOException {
		page.size(width, height, 1);
		page.prefer(scheme);
		page.show(view);
		if (view.equals("all")) {
			page.run("memory-overwrite");
			page.script("document.querySelector('.source').open = true");
		}
		page.goToTheLastStep();
		page.script(new ClassPathResource("axe.min.js").getContentAsString(StandardCharsets.UTF_8));
		// colours glide
		await().untilAsserted(() -> assertThat((List<?>) page.script("""
				return axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
					nodes.map(({ html }) => `${id}: ${html}`)))""")).isEmpty());
	}

	/** With {@code -Dlab.images=.}, the picture of the README is replaced. */
	@Test
	void pictureOfTheReadmeIsTaken() throws IOException {
		page.size(1280, 1000, 1.5);
		page.prefer("dark");
		page.show("freeze");
		page.goToTheLastStep();
		page.script("document.activeElement.blur(); document.getElementById('steps').scrollIntoView()");
		byte[] picture = page.screenshot();
		assertThat(picture).hasSizeBetween(10_000, 200_000);
		Files.write(Path.of(System.getProperty("lab.images", "target"), "lab-steps.webp"), picture);
	}

}
