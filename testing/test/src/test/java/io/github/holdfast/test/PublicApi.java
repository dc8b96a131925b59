package io.github.holdfast.test;

import java.io.IOException;
import java.lang.reflect.AnnotatedType;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What users of a module can call and implement, as lines that are recorded in a file. A
 * change is recorded by {@code -Dtest.record-api}, and seen by who reads the commit.
 */
final class PublicApi {

	private PublicApi() {
	}

	static Collection<String> describe(Collection<Class<?>> types) {
		Collection<String> api = new TreeSet<>();
		types.stream().filter(PublicApi::isVisible).forEach((type) -> api.addAll(describe(type)));
		return api;
	}

	/** Asserts that an API is the one of a file, or records it there. */
	static void assertRecorded(Path file, Collection<String> api) throws IOException {
		if (System.getProperty("test.record-api") != null) {
			Files.write(file, api);
		}
		List<String> recorded = Files.readAllLines(file);
		assertThat(api)
			.as("what was recorded and must not be removed without a word in CHANGELOG.md, "
					+ "see testing/release/README.md")
			.containsAll(recorded);
		assertThat(recorded).as("what is new and has to be recorded by -Dtest.record-api").containsAll(api);
	}

	private static boolean isVisible(Class<?> type) {
		Class<?> outer = type.getEnclosingClass();
		return !type.isAnonymousClass() && isVisible(type.getModifiers()) && (outer == null || isVisible(outer));
	}

	private static boolean isVisible(int modifiers) {
		return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
	}

	private static List<String> describe(Class<?> type) {
		List<String> lines = new ArrayList<>();
		String parents = Stream
			.concat(Stream.ofNullable(type.getGenericSuperclass()), Arrays.stream(type.getGenericInterfaces()))
			.map((parent) -> simple(parent.getTypeName()))
			.sorted()
			.collect(Collectors.joining(", "));
		lines.add(type.getName() + " " + modifiers(type.getModifiers())
				+ (type.isAnnotation() ? "annotation" : type.isInterface() ? "interface" : "class")
				+ (parents.isEmpty() ? "" : " : " + parents));
		for (Field field : type.getDeclaredFields()) {
			if (isVisible(field.getModifiers()) && !field.isSynthetic()
					&& !field.getName().equals("serialVersionUID")) {
				lines.add(type.getName() + " " + modifiers(field.getModifiers()) + field.getName() + " : "
						+ simple(field.getAnnotatedType().toString()));
			}
		}
		Stream
			.<Executable>concat(Arrays.stream(type.getDeclaredConstructors()), Arrays.stream(type.getDeclaredMethods()))
			.filter((member) -> isVisible(member.getModifiers()) && !member.isSynthetic())
			.forEach((member) -> lines.add(describe(type, member)));
		return lines;
	}

	private static String describe(Class<?> type, Executable member) {
		String parameters = Arrays.stream(parameterTypes(type, member))
			.map((parameter) -> simple(parameter.toString()))
			.collect(Collectors.joining(", "));
		String exceptions = Arrays.stream(member.getGenericExceptionTypes())
			.map((exception) -> simple(exception.getTypeName()))
			.sorted(Comparator.naturalOrder())
			.collect(Collectors.joining(", "));
		String line = type.getName() + " "
				+ modifiers(member.getModifiers() & ~Modifier.TRANSIENT & ~Modifier.VOLATILE);
		if (member instanceof Method method) {
			Object value = method.getDefaultValue();
			return line + (method.isDefault() ? "default " : "") + method.getName() + "(" + parameters + ")"
					+ (exceptions.isEmpty() ? "" : " throws " + exceptions)
					+ ((value != null) ? " = " + defaultValue(value) : "") + " -> "
					+ simple(method.getAnnotatedReturnType().toString());
		}
		return line + "new(" + parameters + ")" + (exceptions.isEmpty() ? "" : " throws " + exceptions);
	}

	/**
	 * From Java 21 on, those of a record's own constructor are told without their types.
	 */
	private static AnnotatedType[] parameterTypes(Class<?> type, Executable member) {
		return (type.isRecord() && member instanceof Constructor && isCanonical(type, member))
				? Arrays.stream(type.getRecordComponents())
					.map(RecordComponent::getAnnotatedType)
					.toArray(AnnotatedType[]::new)
				: member.getAnnotatedParameterTypes();
	}

	private static boolean isCanonical(Class<?> type, Executable member) {
		return Arrays.equals(member.getParameterTypes(),
				Arrays.stream(type.getRecordComponents()).map(RecordComponent::getType).toArray());
	}

	private static String defaultValue(Object value) {
		return (value instanceof String) ? "\"" + value + "\"" : String.valueOf(value);
	}

	private static String modifiers(int modifiers) {
		int interesting = modifiers
				& (Modifier.PUBLIC | Modifier.PROTECTED | Modifier.STATIC | Modifier.FINAL | Modifier.ABSTRACT);
		return (interesting != 0) ? Modifier.toString(interesting) + " " : "";
	}

	/** Without packages, which are where they have to be. */
	private static String simple(String type) {
		return type.replaceAll("\\b([a-z_]\\w*\\.)+(?=@?[A-Z])", "").replace("@Nullable()", "@Nullable");
	}

}
