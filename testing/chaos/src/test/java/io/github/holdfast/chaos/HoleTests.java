package io.github.holdfast.chaos;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import static org.assertj.core.api.Assertions.assertThat;

class HoleTests {

	static List<Hole> holes() throws IOException {
		return Hole.in(Hole.DIRECTORY);
	}

	@ParameterizedTest
	@MethodSource("holes")
	void holeFitsTheLibrary(Hole hole, @TempDir Path directory) throws IOException {
		assertThat(hole.dig(directory)).isNotEmpty();
	}

	@Test
	@Tag("chaos")
	void eachHoleIsFound() throws Exception {
		String[] names = System.getProperty("holdfast.chaos.holes", "").split(",");
		List<Callable<String>> searches = Hole.in(Hole.DIRECTORY, names)
			.stream()
			.<Callable<String>>map((hole) -> () -> HoleSearch.search(hole))
			.toList();
		List<String> rows = Campaign.inLanes(Integer.getInteger("holdfast.chaos.lanes", 2), searches);
		rows.forEach(System.out::println);
		assertThat(rows).isNotEmpty().noneMatch((row) -> row.contains("not found"));
	}

}
