package io.github.holdfast.lab;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;
import java.util.List;
import java.util.Map;

import org.openqa.selenium.chrome.ChromeDriver;
import org.openqa.selenium.chrome.ChromeDriverService;
import org.openqa.selenium.chrome.ChromeOptions;

import org.springframework.util.FileSystemUtils;

/**
 * Debian's Chromium without a window, with a profile of its own. Nothing is downloaded.
 */
final class Chromium implements AutoCloseable {

	private static final Path BROWSER = Path.of("/usr/bin/chromium");

	private static final Path DRIVER = Path.of("/usr/bin/chromedriver");

	private final Path profile;

	private final ChromeDriver driver;

	private Chromium(Path profile) {
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

	/**
	 * Whether it is there, for {@code @EnabledIf}.
	 * @return whether both the browser and its driver are installed
	 */
	static boolean isInstalled() {
		return Files.isExecutable(BROWSER) && Files.isExecutable(DRIVER);
	}

	static Chromium start() throws IOException {
		Path profile = Files.createTempDirectory("lab-chromium");
		try {
			return new Chromium(profile);
		}
		catch (RuntimeException ex) {
			FileSystemUtils.deleteRecursively(profile);
			throw ex;
		}
	}

	ChromeDriver driver() {
		return this.driver;
	}

	/** Sets the size of what is seen of the page. */
	void size(int width, int height, double scale) {
		this.driver.executeCdpCommand("Emulation.setDeviceMetricsOverride",
				Map.of("width", width, "height", height, "deviceScaleFactor", scale, "mobile", false));
	}

	/**
	 * Sets what the system prefers.
	 * @param feature the name of a media feature
	 * @param value its value
	 */
	void prefer(String feature, String value) {
		this.driver.executeCdpCommand("Emulation.setEmulatedMedia",
				Map.of("features", List.of(Map.of("name", feature, "value", value))));
	}

	/** Takes the network away, or gives it back. */
	void offline(boolean offline) {
		this.driver.executeCdpCommand("Network.enable", Map.of());
		this.driver.executeCdpCommand("Network.emulateNetworkConditions",
				Map.of("offline", offline, "latency", 0, "downloadThroughput", -1, "uploadThroughput", -1));
	}

	/** A picture of what is seen, as WebP. */
	byte[] screenshot() {
		Object picture = this.driver
			.executeCdpCommand("Page.captureScreenshot", Map.of("format", "webp", "quality", 82))
			.get("data");
		return Base64.getDecoder().decode(String.valueOf(picture));
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
