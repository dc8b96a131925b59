package io.github.holdfast.lab.page;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * The texts of the page.
 */
final class Languages {

	/** Where the page is. */
	static final Path PAGE = Path.of("src", "main", "resources", "static", "lab");

	/** The codes of the languages, the first of which the others are translated from. */
	static final List<String> CODES = List.of("en", "zh");

	private Languages() {
	}

	static Map<String, String> texts(String code) throws IOException {
		try (InputStream file = Files.newInputStream(PAGE.resolve("languages").resolve(code + ".json"))) {
			return new TreeMap<>(new JsonMapper().readValue(file, new TypeReference<Map<String, String>>() {
			}));
		}
	}

}
