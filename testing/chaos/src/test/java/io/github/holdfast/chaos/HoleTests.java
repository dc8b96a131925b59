package io.github.holdfast.chaos;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * Sentences of the rule that are taken out of the library.
 */
class HoleTests {

	static List<Hole> holes() throws IOException {
		return Hole.all();
	}

	@ParameterizedTest
	@MethodSource("holes")
	void holeFitsTheLibrary(Hole hole, @TempDir Path directory) throws IOException {
		assertThat(hole.dig(directory)).isNotEmpty();
	}

	@Test
	@Tag("chaos")
	void eachHoleIsFound() throws Exception {
		List<String> rows = HoleSearch.searchAll(Integer.getInteger("holdfast.chaos.lanes", 2),
				System.getProperty("holdfast.chaos.holes", "").split(","));
		rows.forEach(System.out::println);
		assertThat(rows).isNotEmpty().noneMatch((row) -> row.contains("not found") || row.contains("failed"));
	}

}
