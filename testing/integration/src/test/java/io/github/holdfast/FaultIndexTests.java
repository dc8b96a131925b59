package io.github.holdfast;

import java.io.File;
import java.lang.reflect.Method;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.commons.annotation.Testable;
import org.junit.platform.commons.support.AnnotationSupport;

import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The table of {@code testing/integration/faults.md} says what the tests say: each proof
 * that it names is there, and each tag is in it.
 */
class FaultIndexTests {

	private static final Path TABLE = Path.of("faults.md");

	/**
	 * The tests of this module, those beside the classes of the library, and the kits.
	 */
	private static final List<Path> CLASSES = List.of(Path.of("target", "test-classes"),
			Path.of("..", "..", "autoconfigure", "target", "test-classes"),
			Path.of("..", "contract-tests", "target", "classes"));

	private static final Pattern ROW = Pattern.compile("^\\| (F\\d\\d) \\|.*\\| (.*) \\|$", Pattern.MULTILINE);

	private static final Pattern PROOF = Pattern.compile("`(\\w+)`( \\(([^)]*)\\))?");

	private static final Pattern FAULT = Pattern.compile("F\\d\\d");

	private static List<Proof> proofs = List.of();

	private static List<TaggedMethod> methods = List.of();

	@BeforeAll
	static void read() throws Exception {
		proofs = ROW.matcher(Files.readString(TABLE)).results().flatMap(FaultIndexTests::proofs).toList();
		methods = testClasses().stream()
			.flatMap((type) -> Arrays.stream(type.getDeclaredMethods()))
			.filter((method) -> AnnotationSupport.isAnnotated(method, Testable.class))
			.flatMap(FaultIndexTests::tagged)
			.toList();
	}

	private static List<Class<?>> testClasses() throws Exception {
		List<Class<?>> classes = new ArrayList<>();
		for (Path root : CLASSES) {
			try (Stream<Path> files = Files.walk(root)) {
				for (Path file : files.filter((path) -> path.toString().endsWith("Tests.class")).toList()) {
					String name = root.relativize(file).toString().replace(File.separatorChar, '.');
					classes.add(Class.forName(name.substring(0, name.length() - ".class".length()), false,
							FaultIndexTests.class.getClassLoader()));
				}
			}
		}
		return classes;
	}

	private static Stream<Proof> proofs(MatchResult row) {
		Matcher proof = PROOF.matcher(row.group(2));
		List<Proof> found = new ArrayList<>();
		while (proof.find()) {
			Set<String> backends = (proof.group(3) != null) ? Set.of(proof.group(3).split(", ")) : Set.of();
			found.add(new Proof(row.group(1), proof.group(1), backends));
		}
		return found.stream();
	}

	private static Stream<TaggedMethod> tagged(Method method) {
		return Stream
			.concat(AnnotationSupport.findRepeatableAnnotations(method, Tag.class).stream(),
					AnnotationSupport.findRepeatableAnnotations(method.getDeclaringClass(), Tag.class).stream())
			.map(Tag::value)
			.filter(FAULT.asMatchPredicate())
			.distinct()
			.map((fault) -> new TaggedMethod(fault, method));
	}

	@Test
	void tableIsNotEmpty() {
		assertThat(proofs).hasSizeGreaterThan(30);
	}

	@Test
	void eachFaultHasItsNumber() throws Exception {
		assertThat(ROW.matcher(Files.readString(TABLE)).results().map((row) -> row.group(1))).doesNotHaveDuplicates();
	}

	@Test
	void eachProofOfTheTableIsATaggedTest() {
		assertThat(proofs).allSatisfy(
				(proof) -> assertThat(methodsOf(proof)).as("tests of %s with @Tag(\"%s\")", proof.type(), proof.fault())
					.isNotEmpty());
	}

	@Test
	void eachTagIsInTheTable() {
		Set<String> listed = proofs.stream()
			.map((proof) -> proof.fault() + " " + proof.type())
			.collect(Collectors.toSet());
		assertThat(methods).extracting((method) -> method.fault() + " " + method.type())
			.as("tags, each of which needs its class in the row of faults.md")
			.isSubsetOf(listed);
	}

	@Test
	void eachProofRunsOnTheBackendsThatTheTableSays() {
		assertThat(proofs).allSatisfy((proof) -> {
			List<TaggedMethod> tests = methodsOf(proof);
			if (tests.stream().allMatch(TaggedMethod::namesItsBackends)) {
				assertThat(tests.stream().flatMap((test) -> test.backends().stream()).collect(Collectors.toSet()))
					.as("backends of %s in %s", proof.fault(), proof.type())
					.isEqualTo(proof.backends());
			}
		});
	}

	@Test
	void backendsOfTheTableExist() {
		Set<String> known = Stream
			.of(Stream.of("etcd", "ZooKeeper"), Arrays.stream(TestBackend.values()).map(TestBackend::title),
					Arrays.stream(RedisStore.values()).map(RedisStore::title))
			.flatMap((titles) -> titles)
			.collect(Collectors.toSet());
		assertThat(proofs).allSatisfy((proof) -> assertThat(known).containsAll(proof.backends()));
	}

	private static List<TaggedMethod> methodsOf(Proof proof) {
		Predicate<TaggedMethod> same = (method) -> method.fault().equals(proof.fault())
				&& method.type().equals(proof.type());
		return methods.stream().filter(same).toList();
	}

	private record Proof(String fault, String type, Set<String> backends) {
	}

	private record TaggedMethod(String fault, Method method) {

		private String type() {
			return this.method.getDeclaringClass().getSimpleName();
		}

		private boolean namesItsBackends() {
			return !backends().isEmpty();
		}

		/**
		 * What its source of arguments says; one that is made by code is taken for all of
		 * them.
		 */
		private Set<String> backends() {
			List<Class<?>> parameters = List.of(this.method.getParameterTypes());
			if (parameters.contains(RedisStore.class)) {
				return Arrays.stream(RedisStore.values()).map(RedisStore::title).collect(Collectors.toSet());
			}
			Set<String> chosen = chosen();
			return parameters.stream()
				.filter((type) -> type == TestBackend.class || type == TestDatabase.class)
				.flatMap((type) -> Arrays.stream((Enum<?>[]) type.getEnumConstants()))
				.map(Enum::name)
				.filter((name) -> chosen.isEmpty() || chosen.contains(name))
				.map((name) -> TestBackend.valueOf(name).title())
				.collect(Collectors.toCollection(TreeSet::new));
		}

		private Set<String> chosen() {
			EnumSource names = this.method.getAnnotation(EnumSource.class);
			if (names != null) {
				return Set.of(names.names());
			}
			CsvSource rows = this.method.getAnnotation(CsvSource.class);
			return (rows != null)
					? Arrays.stream(rows.value()).map((row) -> row.split(",")[0]).collect(Collectors.toSet())
					: Set.of();
		}

	}

}
