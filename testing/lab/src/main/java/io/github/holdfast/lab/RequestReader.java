package io.github.holdfast.lab;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

import tools.jackson.core.JacksonException;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.cfg.EnumFeature;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.UnrecognizedPropertyException;
import tools.jackson.databind.json.JsonMapper;

/**
 * Reads requests strictly: nothing is rounded, ignored or guessed, and each refusal names
 * the field and the reason.
 */
final class RequestReader {

	private static final JsonMapper MAPPER = JsonMapper.builder()
		.enable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
		.enable(EnumFeature.FAIL_ON_NUMBERS_FOR_ENUMS)
		.disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
		.build();

	private RequestReader() {
	}

	static RunRequest read(JsonNode json) {
		List<RunRequest.FieldProblem> problems = new ArrayList<>();
		check("", json, problems);
		if (!problems.isEmpty()) {
			throw LabException.invalid(problems);
		}
		try {
			return MAPPER.treeToValue(json, RunRequest.class);
		}
		catch (MismatchedInputException ex) {
			throw LabException.invalid(List.of(new RunRequest.FieldProblem(path(ex), reason(ex))));
		}
	}

	/** All numbers of requests are whole numbers. */
	private static void check(String path, JsonNode json, List<RunRequest.FieldProblem> problems) {
		if (json.isNull()) {
			problems.add(new RunRequest.FieldProblem(path, "must not be null"));
		}
		else if (json.isNumber() && !json.isInt()) {
			problems.add(new RunRequest.FieldProblem(path,
					json.isIntegralNumber() ? "is out of range" : "must be a whole number"));
		}
		else if (json.isArray()) {
			for (int i = 0; i < json.size(); i++) {
				check(path + "[" + i + "]", json.get(i), problems);
			}
		}
		else if (json.isObject()) {
			json.properties()
				.forEach((property) -> check(path.isEmpty() ? property.getKey() : path + "." + property.getKey(),
						property.getValue(), problems));
		}
	}

	private static String path(JacksonException ex) {
		String path = ex.getPath()
			.stream()
			.map((step) -> (step.getPropertyName() != null) ? "." + step.getPropertyName()
					: "[" + step.getIndex() + "]")
			.collect(Collectors.joining());
		return path.startsWith(".") ? path.substring(1) : path;
	}

	private static String reason(MismatchedInputException ex) {
		Class<?> target = ex.getTargetType();
		if (ex instanceof UnrecognizedPropertyException unknown) {
			return "is not known; known are "
					+ unknown.getKnownPropertyIds().stream().map(String::valueOf).collect(Collectors.joining(", "));
		}
		if (target == null) {
			return "cannot be read";
		}
		if (target.isEnum()) {
			return "must be one of " + Arrays.toString(target.getEnumConstants()).replaceAll("[\\[\\]]", "");
		}
		if (Number.class.isAssignableFrom(target)) {
			return "must be a whole number";
		}
		return List.class.isAssignableFrom(target) ? "must be a list"
				: (target == String.class) ? "must be a text" : "must be an object";
	}

}
