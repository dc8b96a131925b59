package io.github.holdfast;

import java.io.IOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.json.JsonParserFactory;

import io.github.holdfast.autoconfigure.HoldfastDataSource;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.FencedLockBackend;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.handover.HandoverLockBackend;
import io.github.holdfast.optimistic.OptimisticLockBackend;
import io.github.holdfast.support.LockConfigurationException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What users can call, implement and configure is what was recorded. A change is recorded
 * by {@code -Dholdfast.test.record-api}, and seen by who reads the commit.
 */
class PublicApiTests {

	private static final Path RECORDED = Path.of("src", "test", "resources", "api.txt");

	/** Beside the root package. */
	private static final List<Class<?>> OTHERS = List.of(HoldfastDataSource.class, LockConfigurationException.class,
			Fence.class, RowFence.class, FenceTable.class, FencedLockBackend.class, HandoverLockBackend.class,
			OptimisticLockBackend.class);

	@Test
	void apiIsTheRecordedOne() throws Exception {
		Collection<String> api = api();
		if (System.getProperty("holdfast.test.record-api") != null) {
			Files.write(RECORDED, api);
		}
		List<String> recorded = Files.readAllLines(RECORDED);
		assertThat(api)
			.as("what was recorded and must not be removed without a word in CHANGELOG.md, "
					+ "see docs/internals/releasing.md")
			.containsAll(recorded);
		assertThat(recorded).as("what is new and has to be recorded by -Dholdfast.test.record-api").containsAll(api);
	}

	@Test
	void changeOfAMethodIsSeen() throws Exception {
		assertThat(api()).contains(
				"io.github.holdfast.LockBackend public default acquire(LockRequest, List<LockLease>) throws InterruptedException -> @Nullable LockLease",
				"io.github.holdfast.DistributedLock public abstract waitTime() = \"\" -> String",
				"holdfast.wait-time Duration = 5s");
	}

	private static Collection<String> api() throws Exception {
		Collection<String> api = new TreeSet<>();
		for (Class<?> type : types()) {
			api.addAll(describe(type));
		}
		api.addAll(properties());
		return api;
	}

	private static List<Class<?>> types() throws IOException, URISyntaxException, ClassNotFoundException {
		Path root = Path.of(LockTemplate.class.getProtectionDomain().getCodeSource().getLocation().toURI())
			.resolve("io/github/holdfast");
		List<Class<?>> types = new ArrayList<>();
		try (Stream<Path> files = Files.list(root)) {
			for (String name : files.map((file) -> file.getFileName().toString())
				.filter((name) -> name.endsWith(".class") && !name.equals("package-info.class"))
				.toList()) {
				types.add(Class.forName("io.github.holdfast." + name.replace(".class", "")));
			}
		}
		types.addAll(OTHERS);
		return types.stream().filter(PublicApiTests::isVisible).toList();
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
		String parameters = Arrays.stream(member.getAnnotatedParameterTypes())
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

	private static String defaultValue(Object value) {
		return (value instanceof String) ? "\"" + value + "\"" : String.valueOf(value);
	}

	private static String modifiers(int modifiers) {
		int interesting = modifiers
				& (Modifier.PUBLIC | Modifier.PROTECTED | Modifier.STATIC | Modifier.FINAL | Modifier.ABSTRACT);
		return (interesting != 0) ? Modifier.toString(interesting) + " " : "";
	}

	/**
	 * Without packages, which are where they have to be.
	 */
	private static String simple(String type) {
		return type.replaceAll("\\b([a-z_]\\w*\\.)+(?=@?[A-Z])", "").replace("@Nullable()", "@Nullable");
	}

	/**
	 * The properties, with type and default.
	 */
	private static List<String> properties() throws IOException {
		Path metadata = Path.of("target", "classes", "META-INF", "spring-configuration-metadata.json");
		Object properties = JsonParserFactory.getJsonParser().parseMap(Files.readString(metadata)).get("properties");
		return ((List<?>) properties).stream().map((property) -> describe((Map<?, ?>) property)).toList();
	}

	private static String describe(Map<?, ?> property) {
		@Nullable Object value = property.get("defaultValue");
		return property.get("name") + " " + simple(String.valueOf(property.get("type")))
				+ ((value != null) ? " = " + value : "");
	}

}
