package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

import org.awaitility.Awaitility;
import org.awaitility.core.ConditionFactory;
import org.jspecify.annotations.Nullable;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.StaleElementReferenceException;
import org.openqa.selenium.WebElement;
import org.openqa.selenium.WindowType;
import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;

import org.springframework.util.FileSystemUtils;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page, as somebody uses it in Debian's Chromium without a window, with a profile of
 * its own. Nothing is downloaded.
 */
final class LabPage implements AutoCloseable {

	private static final Path BROWSER = Path.of("/usr/bin/chromium");

	private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

	private final Path profile;

	private final ChromeDriver driver;

	private LabPage(Path profile) {
		this.profile = profile;
		ChromeOptions options = new ChromeOptions();
		options.setBinary(BROWSER.toFile());
		options.addArguments("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
				"--disable-background-networking", "--disable-component-update", "--disable-sync", "--hide-scrollbars",
				"--lang=en", "--user-data-dir=" + profile);
		this.driver = new ChromeDriver(
				new ChromeDriverService.Builder().usingDriverExecutable(DRIVER.toFile()).usingAnyFreePort().build(),
				options);
	}

	/** Whether the browser and its driver are there, for {@code @EnabledIf}. */
	static boolean isInstalled() {
		return Files.isExecutable(BROWSER) && Files.isExecutable(DRIVER);
	}

	static LabPage launch() throws IOException {
		Path profile = Files.createTempDirectory("lab-chromium");
		try {
			return new LabPage(profile);
		}
		catch (RuntimeException ex) {
			FileSystemUtils.deleteRecursively(profile);
			throw ex;
		}
	}

	/** Sets the size of what is seen of the page. */
	void size(int width, int height, double scale) {
		this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", width, "height", height, "deviceScaleFactor", scale, "mobile", false));
	}

	/** Sets the colours that the system prefers. */
	void prefer(String scheme) {
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", "prefers-color-scheme", "value", scheme))));
	}

	/** A picture of what is seen, as WebP. */
	byte[] screenshot() {
		Map<String, Object> format = Map.of("format", "webp", "quality", 82);
		return Base64.getDecoder()
			.decode(String.valueOf(this.driver.executeCdpCommand("Page.captureScreenshot", format).get("data")));
	}

	/** Opens it as somebody who was never there. */
	void open(String url) {
		if (!url.equals(this.driver.getCurrentUrl())) {
			this.driver.get(url + "icon.svg");
		}
		script("localStorage.clear()");
		this.driver.get("about:blank");
		reload(url);
	}

	void reload(String url) {
		this.driver.get(url);
		await().untilAsserted(() -> assertThat(all("#strategies input")).isNotEmpty());
		await().until(() -> "true".equals(attribute("body", "data-ready")));
	}

	/** Switches the language. */
	void speak(String code) {
		script("const list = document.getElementById('language'); list.value = arguments[0];"
				+ "list.dispatchEvent(new Event('change'))", code);
		await().until(() -> String.valueOf(attribute("html", "lang")).startsWith(code));
	}

	/** Goes to a rung, or to all approaches. */
	void go(String view) {
		script("location.hash = arguments[0]", view);
		await().until(() -> view.equals(attribute("body", "data-view")));
	}

	void choose(String strategy) {
		go("all");
		script("document.querySelector(`[name=strategy][value='${arguments[0]}']`).click()", strategy);
	}

	void start() {
		click("#start");
	}

	void awaitState(String state) {
		await().until(() -> state.equals(attribute("body", "data-state")));
	}

	void run(String strategy) {
		choose(strategy);
		startAndWait();
	}

	void startAndWait() {
		start(() -> start());
	}

	/** Runs a rung until it shows what it is about, or all approaches. */
	void show(String view) {
		go(view);
		if (view.equals("all")) {
			run("all");
		}
		else {
			climb();
		}
	}

	/** Runs the rung that is shown, until it shows what it is about. */
	void climb() {
		start(() -> click("#climb"));
		await().until(() -> find("#climb").isEnabled());
	}

	/** Opens more tabs, and does something in each of them. */
	void inOtherTabs(String url, int tabs, Runnable action) {
		String first = this.driver.getWindowHandle();
		for (int i = 0; i < tabs; i++) {
			this.driver.switchTo().newWindow(WindowType.TAB);
			reload(url);
			action.run();
		}
		for (String tab : this.driver.getWindowHandles()) {
			if (!tab.equals(first)) {
				this.driver.switchTo().window(tab).close();
			}
		}
		this.driver.switchTo().window(first);
	}

	private void start(Runnable start) {
		String before = attribute("body", "data-run");
		start.run();
		await().until(() -> !String.valueOf(before).equals(attribute("body", "data-run")));
		awaitState("FINISHED");
		await().until(() -> isDisplayed(".verdict strong"));
	}

	void fill(String field, String value) {
		WebElement input = find("#field-" + field);
		input.clear();
		input.sendKeys(value);
	}

	void click(String selector) {
		settled(() -> {
			WebElement element = find(selector);
			this.driver.executeScript("arguments[0].scrollIntoView({ block: 'center' })", element);
			element.click();
			return true;
		});
	}

	/** Goes through the steps of the pair that the verdict leads to. */
	void goToTheLastStep() {
		await().until(() -> isDisplayed("#show-pair"));
		click("#show-pair");
		press(Keys.END);
	}

	/** Presses keys where the focus is. */
	void press(CharSequence... keys) {
		this.driver.switchTo().activeElement().sendKeys(keys);
	}

	/** Presses the tabulator key until an element has the focus. */
	void tabTo(String selector) {
		for (int i = 0; i < 60; i++) {
			press(Keys.TAB);
			if (Boolean.TRUE.equals(script("return document.activeElement.matches(arguments[0])", selector))) {
				return;
			}
		}
		throw new AssertionError(selector + " cannot be reached by the keyboard");
	}

	/** What the console was told since it was asked last. */
	List<LogEntry> complaints() {
		return this.driver.manage().logs().get(LogType.BROWSER).getAll();
	}

	String text(String selector) {
		return settled(() -> find(selector).getText());
	}

	List<String> texts(String selector) {
		return settled(() -> all(selector).stream().map(WebElement::getText).toList());
	}

	@Nullable String attribute(String selector, String name) {
		return settled(() -> find(selector).getDomAttribute(name));
	}

	boolean isDisplayed(String selector) {
		return settled(() -> all(selector).stream().anyMatch(WebElement::isDisplayed));
	}

	/** What is looked at may just be written again. */
	private static <T extends @Nullable Object> T settled(Supplier<T> look) {
		try {
			return look.get();
		}
		catch (StaleElementReferenceException ex) {
			return settled(look);
		}
	}

	List<WebElement> all(String selector) {
		return this.driver.findElements(By.cssSelector(selector));
	}

	WebElement find(String selector) {
		return this.driver.findElement(By.cssSelector(selector));
	}

	@Nullable Object script(String script, Object... arguments) {
		return this.driver.executeScript(script, arguments);
	}

	static ConditionFactory await() {
		return Awaitility.await()
			.atMost(Duration.ofMinutes(2))
			.pollInterval(Duration.ofMillis(20))
			// what is looked at may just be written again
			.ignoreException(StaleElementReferenceException.class);
	}

	@Override
	public void close() throws IOException {
		try {
			this.driver.quit();
		}
		finally {
			FileSystemUtils.deleteRecursively(this.profile);
		}
	}

}
