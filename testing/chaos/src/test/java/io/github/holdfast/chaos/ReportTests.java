package io.github.holdfast.chaos;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class ReportTests {

	private static final Pattern LINK = Pattern.compile("\\]\\(([^)#]+)\\)");

	private static final Pattern MODULE = Pattern.compile(" -pl (\\S+)");

	private final String page = new Report(1, 4, 2, 0).toString();

	@Test
	void linksLeadSomewhereFromTheFolderOfThePage() {
		assertThat(found(LINK)).isNotEmpty().allSatisfy((link) -> assertThat(Path.of(link)).exists());
	}

	@Test
	void commandsNameModulesThatAreThere() {
		assertThat(found(MODULE)).isNotEmpty().allSatisfy((module) -> assertThat(Path.of("../..", module)).exists());
	}

	private List<String> found(Pattern pattern) {
		return pattern.matcher(this.page).results().map((found) -> found.group(1)).toList();
	}

}
