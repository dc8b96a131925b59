package io.github.holdfast.lab.page;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

import org.jspecify.annotations.Nullable;
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
import org.openqa.selenium.WebElement;

import org.springframework.core.io.ClassPathResource;

import static io.github.holdfast.lab.page.LabPage.await;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the page does with what the lab says.
 */
@Tag("long")
@EnabledIf(value = "io.github.holdfast.lab.page.Chromium#isInstalled",
		disabledReason = "Chromium and its driver are not installed (Debian: chromium, chromium-driver)")
@Timeout(180)
class LabPageTests {

	private static final int PHONE = 360;

	private static RecordedLab lab;

	private static Chromium chromium;

	private static LabPage page;

	@BeforeAll
	static void startBrowser() throws IOException {
		lab = new RecordedLab();
		chromium = Chromium.start();
		page = new LabPage(chromium.driver());
	}

	@AfterAll
	static void stopBrowser() throws IOException {
		try (RecordedLab stopped = lab; Chromium closed = chromium) {
			assertThat(stopped).isNotNull();
			assertThat(closed).isNotNull();
		}
	}

	@BeforeEach
	void openPage() {
		lab.reset();
		chromium.size(1280, 900, 1);
		chromium.prefer("prefers-color-scheme", "light");
		page.open(lab.url());
	}

	@Test
	void lineMovesWhileTheRunIsGoing() {
		lab.allow(6);
		page.choose("memory-overwrite");
		page.start();
		page.awaitState("RUNNING");
		await().until(() -> page.points() > 0);
		int points = page.points();
		lab.allow(30);
		await().until(() -> page.points() > points);
		assertThat(page.find("#start").isEnabled()).isFalse();
		lab.proceed();
		page.awaitState("FINISHED");
		assertThat(page.find("#start").isEnabled()).isTrue();
	}

	@Test
	void verdictOfTheWrongWayIsOversold() {
		page.run("memory-overwrite");
		await().until(() -> "OVERSOLD".equals(page.attribute(".verdict", "data-code")));
		assertThat(page.text(".verdict")).contains("Oversold", "20", "47");
		assertThat(page.text("[data-fact=oversold].bad")).contains("20");
		assertThat(page.attribute(".verdict", "aria-live")).isEqualTo("polite");
	}

	@Test
	void verdictOfTheRightWayIsRight() {
		page.run("for-update");
		await().until(() -> "RIGHT".equals(page.attribute(".verdict", "data-code")));
		assertThat(page.text(".verdict")).contains("40 sold of 40, 0 left over");
		assertThat(page.all(".facts .bad")).isEmpty();
		await().untilAsserted(() -> assertThat(page.text("#show-lost")).isEqualTo("Show me two orders that met"));
	}

	@Test
	void firstLostUpdateIsZoomedToAndSteppedThrough() {
		page.run("memory-overwrite");
		await().until(() -> page.isDisplayed("#show-lost"));
		assertThat(page.all(".lanes .order")).hasSize(60);
		page.click("#show-lost");
		assertThat(page.all(".lanes .order")).hasSize(2);
		await().untilAsserted(() -> assertThat(page.all(".lanes .values text")).extracting(WebElement::getText)
			.containsExactly("read 40, wrote 39", "read 40, wrote 39"));
		assertThat(page.text("#steps .head")).contains("1 of ");
		assertThat(page.attribute("#step-previous", "aria-disabled")).isEqualTo("true");
		page.click("#step-next");
		assertThat(page.text("#steps .head")).contains("2 of ");
		page.press(Keys.END);
		assertThat(page.attribute("#step-next", "aria-disabled")).isEqualTo("true");
		assertThat(page.text("#steps .conclusion")).contains("had read 40", "that update is lost");
		page.press(Keys.ARROW_LEFT);
		assertThat(page.attribute("#step-next", "aria-disabled")).isEqualTo("false");
		page.press(Keys.HOME);
		assertThat(page.text("#steps .said")).endsWith("arrives.");
		page.click("#whole-run");
		await().untilAsserted(() -> assertThat(page.all(".lanes .order")).hasSize(60));
	}

	/**
	 * A process that was frozen between the answer of the database and its look at the
	 * clock has noted that it read after the other one had committed.
	 */
	@Test
	void updateIsLostAlthoughItsReadWasNotedLate() {
		page.script("""
				window.realFetch = window.fetch;
				window.fetch = async (...request) => {
					const answer = await window.realFetch(...request);
					if (!String(request[0]).includes('lost-update')) {
						return answer;
					}
					const lost = await answer.json();
					lost.second.readAt = lost.first.commit + 1;
					return new Response(JSON.stringify(lost), answer);
				};""");
		try {
			page.run("memory-overwrite");
			await().until(() -> page.isDisplayed("#show-lost"));
			page.click("#show-lost");
			page.press(Keys.END);
			assertThat(page.text("#steps .conclusion")).contains("had read 40", "that update is lost");
		}
		finally {
			page.script("window.fetch = window.realFetch");
		}
	}

	@Test
	void lanesAreDraggedAndZoomedByTheWheel() {
		page.run("memory-overwrite");
		await().until(() -> page.isDisplayed("#show-lost"));
		String whole = page.attribute(".lanes .drawing", "aria-label");
		page.script("document.querySelector('.lanes').dispatchEvent(new PointerEvent('pointermove',"
				+ "{ buttons: 1, movementX: 80 }))");
		String dragged = page.attribute(".lanes .drawing", "aria-label");
		assertThat(dragged).isNotEqualTo(whole);
		page.script("document.querySelector('.lanes').dispatchEvent(new WheelEvent('wheel', { deltaY: -100 }))");
		assertThat(page.attribute(".lanes .drawing", "aria-label")).isEqualTo(dragged);
		page.script(
				"document.querySelector('.lanes').dispatchEvent(new WheelEvent('wheel', { ctrlKey: true, deltaY: -100 }))");
		assertThat(page.attribute(".lanes .drawing", "aria-label")).isNotEqualTo(dragged);
	}

	@Test
	void stepsArePlayedAndScrubbedThrough() {
		page.run("memory-overwrite");
		await().until(() -> page.isDisplayed("#show-lost"));
		page.click("#show-lost");
		assertThat(page.text("#step-play")).contains("Play");
		page.click("#step-play");
		await().untilAsserted(() -> assertThat(page.text("#steps .head")).contains("3 of "));
		assertThat(page.text("#step-play")).contains("Pause");
		page.press(Keys.HOME);
		assertThat(page.text("#step-play")).contains("Play");
		page.script("const scrub = document.getElementById('step-scrub'); scrub.value = scrub.max;"
				+ "scrub.dispatchEvent(new Event('input'))");
		assertThat(page.text("#steps .conclusion")).contains("that update is lost");
		assertThat(page.attribute("#step-next", "aria-disabled")).isEqualTo("true");
		page.click("#step-play");
		await().untilAsserted(() -> assertThat(page.text("#steps .head")).contains("2 of "));
	}

	@Test
	void nothingIsComplainedAboutInTheConsole() {
		page.complaints();
		page.run("memory-overwrite");
		await().until(() -> page.isDisplayed("#show-lost"));
		page.click("#show-lost");
		page.run("all");
		page.reload(lab.url());
		page.awaitState("FINISHED");
		assertThat(page.complaints()).isEmpty();
	}

	@Test
	void allStrategiesAreCompared() {
		page.run("all");
		await().untilAsserted(() -> assertThat(page.all(".comparison tbody tr")).hasSizeGreaterThan(1));
		assertThat(page.text(".comparison [data-strategy=memory-overwrite]")).contains("Oversold");
		assertThat(page.text(".comparison [data-strategy=for-update]")).contains("Right");
		page.click(".comparison [data-strategy=for-update] button");
		await().untilAsserted(() -> assertThat(page.text("#strategy h2")).isEqualTo("SELECT … FOR UPDATE"));
		await().untilAsserted(() -> assertThat(page.all(".lanes .order")).hasSize(20));
		assertThat(page.attribute(".verdict", "data-code")).isEqualTo("RIGHT");
		assertThat(page.text("#result h2")).contains("SELECT … FOR UPDATE");
		assertThat(page.text("#lanes h2")).contains("SELECT … FOR UPDATE");
	}

	@Test
	void outcomesOfAllRunsAreCounted() {
		page.run("all");
		page.run("memory-overwrite");
		await().untilAsserted(() -> assertThat(page.text(calm("memory-overwrite"))).isEqualTo("✕ Oversold 2/2"));
		assertThat(page.text(calm("for-update"))).isEqualTo("✓ Right 1/1");
		page.click(calm("for-update"));
		await().untilAsserted(() -> assertThat(page.text("#strategy h2")).isEqualTo("SELECT … FOR UPDATE"));
		assertThat(page.attribute(calm("for-update"), "aria-pressed")).isEqualTo("true");
		List.of(1366, 1280, PHONE).forEach((width) -> {
			chromium.size(width, 768, 1);
			assertThat(hiddenColumns()).isEqualTo(0L);
		});
	}

	@Test
	void columnsOfAllTroublesAreSeen() {
		lab.remember("FREEZE.WORK", "FREEZE.WORK", "FREEZE.COMMIT", "FREEZE.RELEASE", "KILL", "RESTART_REDIS",
				"PROMOTE_REPLICA");
		page.run("memory-overwrite");
		await().untilAsserted(() -> assertThat(page.all(".comparison thead th")).hasSize(8));
		assertThat(page.text(".comparison [data-condition='FREEZE.WORK'] button")).isEqualTo("✕ 2/2");
		assertThat(page.attribute(".comparison [data-condition='FREEZE.WORK'] button", "aria-label"))
			.isEqualTo("Check in memory, overwrite, frozen: Oversold, 2 of 2");
		List.of(1366, 1280).forEach((width) -> {
			chromium.size(width, 768, 1);
			Map.of("en", "en", "zh", "zh-CN").forEach((code, tag) -> {
				page.speak(code, tag);
				assertThat(hiddenColumns()).as(code).isEqualTo(0L);
			});
		});
	}

	private static @Nullable Object hiddenColumns() {
		return page.script("const table = document.querySelector('#comparison .scroll');"
				+ "return table.scrollWidth - table.clientWidth");
	}

	private static String calm(String strategy) {
		return ".comparison [data-strategy=" + strategy + "] [data-condition=calm] button";
	}

	@Test
	void faultsAreDoneToTheNodeThatIsMeant() {
		lab.allow(6);
		page.choose("for-update");
		page.start();
		await().until(() -> page.isDisplayed("[aria-label='Freeze node 2 for 4 s']"));
		page.click("[aria-label='Freeze node 2 for 4 s']");
		await().untilAsserted(() -> assertThat(lab.faults())
			.containsExactly("{\"kind\":\"FREEZE\",\"node\":2,\"millis\":4000,\"moment\":\"WORK\"}"));
		page.click("[aria-label='Kill node 1']");
		page.click("#restart-redis");
		await().untilAsserted(() -> assertThat(lab.faults()).hasSize(3));
		lab.proceed();
		page.awaitState("FINISHED");
		assertThat(page.find("[aria-label='Kill node 1']").isEnabled()).isFalse();
	}

	@Test
	void faultsArePartOfWhatIsAskedFor() {
		page.script("document.getElementById('field-fault').value = 'FREEZE.COMMIT'");
		page.run("for-update");
		assertThat(lab.lastRequest()).contains("\"strategy\":\"for-update\"",
				"\"faults\":[{\"atMs\":100,\"node\":1,\"millis\":3000,\"kind\":\"FREEZE\",\"moment\":\"COMMIT\"}]");
		page.click("#experiment-freeze-holdfast");
		await().untilAsserted(() -> assertThat(lab.lastRequest()).contains("\"strategy\":\"holdfast-redisson-fence\"",
				"\"faults\":[{\"atMs\":0,\"kind\":\"FREEZE\",\"node\":1,\"millis\":3000,\"moment\":\"WORK\"}]"));
		page.awaitState("FINISHED");
	}

	@Test
	void whatIsRefusedIsMarked() {
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

	@Test
	void runThatIsGoingIsShownToWhoComesLate() {
		lab.allow(8);
		page.choose("for-update");
		page.start();
		page.awaitState("RUNNING");
		page.reload(lab.url());
		page.awaitState("RUNNING");
		await().until(() -> page.points() > 0);
		lab.proceed();
		page.awaitState("FINISHED");
	}

	/**
	 * It has forgotten the run, and begins to count anew.
	 */
	@Test
	void labThatWasStartedAgainIsAskedWhatThereIs() throws IOException {
		lab.allow(8);
		page.choose("for-update");
		page.start();
		page.awaitState("RUNNING");
		lab.restart(() -> {
			await().until(() -> page.text("#notice").contains("The lab does not answer"));
			assertThat(page.text("#locks")).contains("Not known");
			assertThat(page.texts("#result .chip")).containsExactly("Not known");
		});
		await().until(() -> !page.isDisplayed("#notice"));
		page.awaitState("");
		assertThat(page.isDisplayed("#strategy")).isFalse();
		assertThat(page.text("#result")).contains("Nothing has run yet");
		await().untilAsserted(() -> assertThat(page.all("#locks tbody tr")).hasSize(3));
		page.run("for-update");
		await().until(() -> "RIGHT".equals(page.attribute(".verdict", "data-code")));
	}

	@Test
	void locksAreShown() {
		await().untilAsserted(() -> assertThat(page.all("#locks tbody tr")).hasSize(3));
		assertThat(page.text("#locks tbody [data-state=HELD]")).contains("stock:LAB", "holds", "Node 1, exec-3");
	}

	@Test
	void languageIsSwitchedAndRemembered() {
		page.run("memory-overwrite");
		speaks("zh", "zh-CN", "超卖");
		page.reload(lab.url());
		assertThat(page.attribute("html", "lang")).isEqualTo("zh-CN");
		assertThat(page.find("#language").getDomProperty("value")).isEqualTo("zh");
	}

	private static void speaks(String code, String tag, String oversold) {
		page.speak(code, tag);
		await().untilAsserted(() -> assertThat(page.text(".verdict strong")).isEqualTo(oversold));
	}

	@Test
	void themeFollowsTheSystemUntilItIsChosen() {
		assertThat(ground()).isEqualTo("rgb(244, 242, 236)");
		chromium.prefer("prefers-color-scheme", "dark");
		await().untilAsserted(() -> assertThat(ground()).isEqualTo("rgb(14, 19, 21)"));
		page.click("#theme");
		assertThat(ground()).isEqualTo("rgb(244, 242, 236)");
		page.reload(lab.url());
		assertThat(ground()).isEqualTo("rgb(244, 242, 236)");
	}

	private static Object ground() {
		return String.valueOf(page.script("return getComputedStyle(document.body).backgroundColor"));
	}

	@Test
	void everythingIsDoneByKeyboardAlone() {
		page.tabTo("[name=strategy]:checked");
		page.press(Keys.ARROW_DOWN);
		page.press(Keys.ARROW_UP);
		page.tabTo("#field-orders");
		page.press(Keys.ENTER);
		page.awaitState("FINISHED");
		await().until(() -> page.isDisplayed("#show-lost"));
		page.tabTo("#show-lost");
		page.press(Keys.ENTER);
		assertThat(page.script("return document.activeElement.id")).isEqualTo("step-next");
		page.press(Keys.ARROW_RIGHT);
		assertThat(page.text("#steps .head")).contains("2 of ");
	}

	@Test
	void nothingIsCutOffOnAPhone() {
		chromium.size(PHONE, 740, 1);
		page.run("memory-overwrite");
		await().until(() -> page.isDisplayed("#show-lost"));
		page.click("#show-lost");
		nothingIsCutOffInAnyLanguage();
		page.run("all");
		await().untilAsserted(() -> assertThat(page.all(".comparison tbody tr")).hasSizeGreaterThan(1));
		nothingIsCutOffInAnyLanguage();
	}

	private static void nothingIsCutOffInAnyLanguage() {
		Map.of("en", "en", "zh", "zh-CN").forEach((code, tag) -> {
			page.speak(code, tag);
			assertThat(page.script("return document.documentElement.scrollWidth")).as(code).isEqualTo((long) PHONE);
			assertThat(cutOff()).as(code).isEmpty();
		});
	}

	/**
	 * The texts of elements whose content is wider than they are.
	 */
	private static List<?> cutOff() {
		Object texts = page
			.script("""
					return [...document.querySelectorAll('button, .button, .chip, label, dt, dd, h1, h2, th, td, p, summary')]
						.filter((element) => element.checkVisibility() && !element.matches('.unseen')
						&& element.scrollWidth > element.clientWidth + 1
							&& element.clientWidth > 0)
						.map((element) => element.outerHTML)""");
		return (List<?>) texts;
	}

	/**
	 * The size of what many notebooks show.
	 */
	@Test
	void runIsStartedWithoutScrolling() {
		chromium.size(1366, 768, 1);
		page.reload(lab.url());
		Map.of("en", "en", "zh", "zh-CN").forEach((code, tag) -> {
			page.speak(code, tag);
			assertThat(List.of("#start", "#next", "#experiment-oversell", "#experiment-freeze-redisson",
					"#experiment-freeze-holdfast"))
				.allSatisfy((control) -> assertThat(isSeen(control)).as(code).isEqualTo(true));
		});
		page.run("memory-overwrite");
		assertThat(isSeen("#start")).isEqualTo(true);
		assertThat(isSeen(".verdict")).isEqualTo(true);
	}

	private static @Nullable Object isSeen(String selector) {
		return page.script("""
				const { top, bottom, left, right } = document.querySelector(arguments[0]).getBoundingClientRect();
				return top >= 0 && bottom <= innerHeight && left >= 0 && right <= innerWidth
						&& document.elementFromPoint((left + right) / 2, (top + bottom) / 2)
							.closest(arguments[0]) !== null""", selector);
	}

	@Test
	void stockIsShownBesideWhatItShouldBe() {
		page.run("memory-overwrite");
		await().until(() -> "27".equals(page.attribute("#chart .chart", "data-stock")));
		assertThat(page.attribute("#chart .chart", "data-should")).isEqualTo("-20");
		assertThat(page.text("#chart .u-legend")).contains("As it should be");
		assertThat(gapIsShaded()).isEqualTo(true);
		page.run("for-update");
		await().until(() -> "0".equals(page.attribute("#chart .chart", "data-stock")));
		assertThat(page.attribute("#chart .chart", "data-should")).isEqualTo("0");
		assertThat(gapIsShaded()).isEqualTo(false);
	}

	/**
	 * Whether the colour of the gap fills more than a line of it.
	 */
	private static @Nullable Object gapIsShaded() {
		return page.script("""
				const canvas = document.querySelector('#chart canvas');
				const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
				let shaded = 0;
				for (let i = 0; i < data.length; i += 4) {
					shaded += data[i] > 170 && data[i] < 190 && data[i + 1] < 30 && data[i + 2] > 50 && data[i + 2] < 80
							&& data[i + 3] > 30 && data[i + 3] < 60 ? 1 : 0;
				}
				return shaded > 1000""");
	}

	@Test
	void stepsAreToldBesideTheirBars() {
		page.run("memory-overwrite");
		await().until(() -> page.isDisplayed("#show-lost"));
		page.click("#show-lost");
		assertThat((List<?>) page.script("""
				return [...document.querySelectorAll('#steps .cell')].filter((cell) => cell.textContent).map((cell) => {
					const range = document.createRange();
					range.selectNodeContents(cell.querySelector('.text'));
					const text = range.getBoundingClientRect();
					const bars = [...cell.querySelectorAll('i')].map((bar) => bar.getBoundingClientRect());
					return Math.min(...bars.map((bar) => Math.max(bar.left - text.right, text.left - bar.right)));
				})""")).isNotEmpty()
			.allSatisfy((distance) -> assertThat(((Number) distance).intValue()).isBetween(0, 20));
	}

	@Test
	void textHasEnoughContrast() throws IOException {
		page.run("memory-overwrite");
		await().until(() -> page.isDisplayed("#show-lost"));
		page.click("#show-lost");
		page.press(Keys.END);
		page.script("document.querySelector('.source').open = true");
		assertThat(page.isDisplayed(".source pre")).isTrue();
		String contrast = new ClassPathResource("lab/contrast.js").getContentAsString(StandardCharsets.UTF_8);
		assertThat((List<?>) page.script(contrast)).isEmpty();
		page.click("#theme");
		// colours glide from one theme to the other
		await().untilAsserted(() -> assertThat((List<?>) page.script(contrast)).isEmpty());
	}

	@ParameterizedTest
	@CsvSource({ "1366, 768", "360, 740" })
	void axeFindsNoViolation(int width, int height) throws IOException {
		chromium.size(width, height, 1);
		page.run("memory-overwrite");
		await().until(() -> page.isDisplayed("#show-lost"));
		page.click("#show-lost");
		page.script("document.querySelector('.source').open = true");
		page.script(new ClassPathResource("axe.min.js").getContentAsString(StandardCharsets.UTF_8));
		assertThat((List<?>) page.script("""
				return axe.run().then(({ violations }) => violations.flatMap(({ id, nodes }) =>
					nodes.map(({ html }) => `${id}: ${html}`)))""")).isEmpty();
	}

	@Test
	void controlsHaveNames() {
		page.run("memory-overwrite");
		assertThat((List<?>) page.script("""
				return [...document.querySelectorAll('button, select, input, a, [role=img], section')]
					.filter((element) => element.checkVisibility() && !element.computedName && !element.labels?.length
						&& !element.getAttribute('aria-label') && !element.getAttribute('aria-labelledby')
						&& !element.textContent.trim())
					.map((element) => element.outerHTML)""")).isEmpty();
	}

	@Test
	void nothingMovesForWhoDoesNotWantIt() {
		chromium.prefer("prefers-reduced-motion", "reduce");
		page.reload(lab.url());
		page.run("memory-overwrite");
		await().until(() -> page.isDisplayed("#show-lost"));
		page.click("#show-lost");
		String before = page.attribute(".drawing svg g:nth-of-type(2)", "transform");
		page.click("#whole-run");
		String whole = page.attribute(".drawing svg g:nth-of-type(2)", "transform");
		assertThat(whole).isNotNull().isNotEqualTo(before);
		assertThat(page
			.script("return new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(() => "
					+ "resolve(document.querySelector('.drawing svg g:nth-of-type(2)').getAttribute('transform')))))"))
			.isEqualTo(whole);
	}

}
