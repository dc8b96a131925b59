package io.github.holdfast.lab.page;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.EnabledIf;
import org.openqa.selenium.Keys;

import static io.github.holdfast.lab.page.LabPage.await;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * Takes the pictures of the page that the documentation shows, and others to look at, in
 * {@code target/screenshots}. With {@code -Dlab.images=.}, the former are replaced.
 */
@EnabledIf(value = "io.github.holdfast.lab.page.Chromium#isInstalled",
		disabledReason = "Chromium and its driver are not installed (Debian: chromium, chromium-driver)")
@Timeout(180)
@Tag("long")
class LabScreenshotTests {

	private static final Path FOLDER = Path.of("target", "screenshots");

	/** Each page of the documentation can afford that. */
	private static final int MAX_BYTES = 200_000;

	@Test
	void rungIsShownInBothThemesAllLanguagesAndOnAPhone() throws IOException {
		try (RecordedLab lab = new RecordedLab(); Chromium chromium = Chromium.start()) {
			LabPage page = new LabPage(chromium.driver());
			for (String language : Languages.CODES) {
				show(page, chromium, lab, language, "light", 1280, 1130);
				page.script("document.getElementById('rung').scrollIntoView()");
				take(chromium, "lab-" + language);
			}
			show(page, chromium, lab, "en", "dark", 1280, 1000);
			page.script("document.getElementById('steps').scrollIntoView()");
			take(chromium, "lab-steps");
			show(page, chromium, lab, "en", "dark", 360, 780);
			page.script("document.getElementById('steps').scrollIntoView()");
			take(chromium, "lab-phone");
			page.go("all");
			chromium.size(1280, 1000, 1.5);
			page.run("all");
			take(chromium, "lab-all");
		}
	}

	private static void show(LabPage page, Chromium chromium, RecordedLab lab, String language, String scheme,
			int width, int height) {
		lab.reset();
		chromium.size(width, height, 1.5);
		chromium.prefer("prefers-color-scheme", scheme);
		page.open(lab.url());
		page.remember(Map.of("language", language));
		page.reload(lab.url());
		page.go("freeze");
		page.climb();
		await().until(() -> page.isDisplayed("#show-pair"));
		page.click("#show-pair");
		page.press(Keys.END);
		await().until(() -> page.isDisplayed("#steps .conclusion"));
		page.script("document.activeElement.blur()");
	}

	private static void take(Chromium chromium, String name) throws IOException {
		byte[] picture = chromium.screenshot();
		assertThat(picture).hasSizeBetween(10_000, MAX_BYTES);
		Files.createDirectories(FOLDER);
		Files.write(FOLDER.resolve(name + ".webp"), picture);
		String images = System.getProperty("lab.images");
		if (images != null) {
			Files.write(Path.of(images, name + ".webp"), picture);
		}
	}

}
