package io.github.holdfast.lab;

import java.time.Duration;
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
import org.openqa.selenium.logging.LogEntry;
import org.openqa.selenium.logging.LogType;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page, as somebody uses it.
 */
final class LabPage {

	private static final int MOST_LOOKS = 20;

	private final ChromeDriver driver;

	LabPage(ChromeDriver driver) {
		this.driver = driver;
	}

	/** Opens it as somebody who was never there. */
	void open(String url) {
		if (!url.equals(this.driver.getCurrentUrl())) {
			this.driver.get(url + "icon.svg");
		}
		remember(Map.of());
		this.driver.get("about:blank");
		reload(url);
	}

	/** Lets the browser remember choices. */
	void remember(Map<String, String> choices) {
		this.driver.executeScript("localStorage.clear(); Object.entries(arguments[0])"
				+ ".forEach(([name, value]) => localStorage.setItem('holdfast.lab.' + name, value))", choices);
	}

	void reload(String url) {
		this.driver.get(url);
		await().untilAsserted(() -> assertThat(all("#strategies input")).isNotEmpty());
		await().until(() -> "true".equals(attribute("body", "data-ready")));
	}

	/**
	 * Switches the language.
	 * @param code the language's code, as it is remembered
	 * @param tag the same, as the page is marked with it
	 */
	void speak(String code, String tag) {
		script("const list = document.getElementById('language'); list.value = arguments[0];"
				+ "list.dispatchEvent(new Event('change'))", code);
		await().until(() -> tag.equals(attribute("html", "lang")));
	}

	/** Goes to a rung, or to all approaches. */
	void go(String view) {
		script("location.hash = arguments[0]", view);
		await().until(() -> view.equals(attribute("body", "data-view")));
	}

	void choose(String strategy) {
		go("all");
		this.driver.executeScript("document.querySelector(`[name=strategy][value='${arguments[0]}']`).click()",
				strategy);
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

	/** Runs the rung that is shown, until it shows what it is about. */
	void climb() {
		start(() -> click("#climb"));
		await().until(() -> find("#climb").isEnabled());
	}

	void climbWithoutWaiting() {
		click("#climb");
		awaitState("RUNNING");
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
		for (int i = 1; i < MOST_LOOKS; i++) {
			try {
				return look.get();
			}
			catch (StaleElementReferenceException ex) {
				// Look at the new one
			}
		}
		return look.get();
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

}
