package io.github.holdfast;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ForkJoinPool;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

/** The structure of the library, as rules, and its size: no ceiling goes up. */
@AnalyzeClasses(packages = "io.github.holdfast", importOptions = ArchitectureTests.Library.class)
class ArchitectureTests {

	private static final String ROOT = "io.github.holdfast";

	/** The inside of the root: both know each other. */
	private static final String CORE = ROOT + ".core";

	/** What each package may know besides the root and the core. */
	private static final Map<String, Set<String>> SIBLINGS = Map.ofEntries(entry("interceptor", Set.of()),
			entry("check", Set.of("interceptor")), entry("store", Set.of()), entry("store.local", Set.of("store")),
			entry("store.jdbc", Set.of("store")), entry("store.redis", Set.of("store")),
			entry("store.zookeeper", Set.of("store")), entry("store.etcd", Set.of("store")),
			entry("transaction", Set.of("store.jdbc")), entry("observation", Set.of("store")),
			entry("actuate", Set.of()));

	/** Lines of code, without blank lines, comments and imports: 8 000 in all. */
	private static final Map<String, Integer> BUDGETS = Map.ofEntries(entry("", 448), entry("core", 1472),
			entry("interceptor", 694), entry("transaction", 1105), entry("store", 125), entry("store/local", 93),
			entry("store/jdbc", 1179), entry("store/redis", 846), entry("store/zookeeper", 350),
			entry("store/etcd", 320), entry("autoconfigure", 750), entry("check", 240), entry("observation", 180),
			entry("actuate", 110));

	private static final int MOST_LINES = 8_000;

	private static final int MOST_FILES = 150;

	private static final Pattern NO_CODE = Pattern.compile("^\\s*(\\*|/\\*|//|import |package |$).*");

	@ArchTest
	static final ArchRule rootAndCoreKnowNoSibling = classes().that()
		.resideInAnyPackage(ROOT, CORE)
		.should()
		.onlyDependOnClassesThat(resideInAnyPackage(ROOT, CORE).or(not(resideInAPackage(ROOT + ".."))));

	@ArchTest
	static final ArchRule rootAndCoreKnowNoAopOrStore = noClasses().that()
		.resideInAnyPackage(ROOT, CORE)
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("org.springframework.aop..", "org.springframework.jdbc..", "org.springframework.data..",
				"org.springframework.boot..", "java.sql..", "javax.sql..");

	@ArchTest
	static final ArchRule onlyAutoConfigurationAndActuatorKnowBoot = noClasses().that()
		.resideOutsideOfPackages(ROOT + ".autoconfigure..", ROOT + ".actuate..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("org.springframework.boot..");

	@ArchTest
	static void siblingsKnowOnlyRootAndWhatIsListed(JavaClasses classes) {
		SIBLINGS.forEach((sibling, others) -> {
			String[] packages = Stream.concat(Stream.of(sibling), others.stream())
				.map((name) -> ROOT + "." + name)
				.toArray(String[]::new);
			classes().that()
				.resideInAPackage(ROOT + "." + sibling)
				.should()
				.onlyDependOnClassesThat(resideInAnyPackage(packages).or(resideInAnyPackage(ROOT, CORE))
					.or(not(resideInAPackage(ROOT + ".."))))
				.check(classes);
		});
	}

	@ArchTest
	static final ArchRule autoConfigurationsArePublicAndFinal = classes().that()
		.areAnnotatedWith(AutoConfiguration.class)
		.should()
		.bePublic()
		.andShould()
		.haveModifier(JavaModifier.FINAL);

	@ArchTest
	static final ArchRule everyPackageIsNullMarked = classes().that()
		.haveSimpleName("package-info")
		.should()
		.beAnnotatedWith(NullMarked.class);

	@ArchTest
	static final ArchRule nothingNeedsTheCommonPoolWhichTheApplicationMayBlock = noClasses().should()
		.dependOnClassesThat()
		.areAssignableTo(ForkJoinPool.class);

	/** What is on a connection of the application is committed by Spring. */
	@ArchTest
	static final ArchRule onlyOwnConnectionsAreCommitted = noClasses().that()
		.doNotHaveSimpleName("OwnConnections")
		.should()
		.callMethodWhere(commits());

	private static DescribedPredicate<JavaMethodCall> commits() {
		return DescribedPredicate.describe("commit a connection",
				(call) -> call.getTarget().getOwner().isAssignableTo(Connection.class)
						&& Set.of("commit", "setAutoCommit").contains(call.getTarget().getName()));
	}

	@Test
	void libraryStaysWithinItsBudgets() throws IOException {
		Map<String, Long> tooLarge = new LinkedHashMap<>();
		long lines = 0;
		long files = 0;
		Path sources = Path.of("src/main/java/io/github/holdfast");
		for (Map.Entry<String, Integer> budget : BUDGETS.entrySet()) {
			try (Stream<Path> folder = Files.list(sources.resolve(budget.getKey()))) {
				Path[] java = folder.filter((file) -> file.toString().endsWith(".java")).toArray(Path[]::new);
				long size = Stream.of(java).mapToLong(ArchitectureTests::lines).sum();
				lines += size;
				files += java.length;
				if (size > budget.getValue()) {
					tooLarge.put(budget.getKey(), size);
				}
			}
		}
		assertThat(tooLarge).isEmpty();
		assertThat(lines).isBetween(1L, (long) MOST_LINES);
		assertThat(files).isBetween(1L, (long) MOST_FILES);
		try (Stream<Path> all = Files.walk(sources)) {
			assertThat(all.filter((file) -> file.toString().endsWith(".java"))).as("files in listed packages")
				.hasSize((int) files);
		}
	}

	private static long lines(Path file) {
		try (Stream<String> lines = Files.lines(file)) {
			return lines.filter((line) -> !NO_CODE.matcher(line).matches()).count();
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	static class Library implements ImportOption {

		@Override
		public boolean includes(Location location) {
			return location.contains("/autoconfigure/target/classes/");
		}

	}

}
