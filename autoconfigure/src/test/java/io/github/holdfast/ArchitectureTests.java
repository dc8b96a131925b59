package io.github.holdfast;

import java.nio.file.Path;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Stream;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.core.importer.Location;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import io.github.holdfast.core.BodyTransaction;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.sql.LockConnections;
import io.github.holdfast.sql.OwnTransaction;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

/**
 * The structure of the library, as rules.
 */
@AnalyzeClasses(packages = "io.github.holdfast", importOptions = ArchitectureTests.Library.class)
class ArchitectureTests {

	private static final String ROOT = "io.github.holdfast";

	/** The inside of what is in the root: both know each other. */
	private static final String CORE = ROOT + ".core";

	/** What each package may know besides the root, and its inside. */
	private static final Map<String, Set<String>> SIBLINGS = Map.ofEntries(entry("interceptor", Set.of()),
			entry("check", Set.of("interceptor")), entry("store", Set.of()), entry("sql", Set.of("store")),
			entry("fence", Set.of("sql", "store")), entry("optimistic", Set.of("fence", "sql", "store")),
			entry("jpa", Set.of()), entry("transaction", Set.of("fence", "jpa", "optimistic", "sql", "store")),
			entry("observation", Set.of("store")), entry("store.local", Set.of("store")),
			entry("store.jdbc", Set.of("fence", "sql", "store")), entry("store.redis", Set.of("store")),
			entry("store.etcd", Set.of("store")), entry("store.zookeeper", Set.of("store")),
			entry("actuate", Set.of("store")));

	private static final int MAX_PUBLIC_ROOT_TYPES = 14;

	private static final int LARGEST_KNOT = 4;

	private static final int MOST_LINES = 19_464;

	private static final int LARGEST_CLASS = 370;

	private static final int LARGEST_OF_NINE_CLASSES_IN_TEN = 161;

	private static final int LARGEST_PUBLIC_SHARE = 44;

	private static final int MOST_PROPERTIES = 42;

	private static final int MOST_METHODS_OF_THE_SEAM = 13;

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching(ROOT + ".(**)").should().beFreeOfCycles();

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
	static final ArchRule onlyTransactionsSeeMoreOfACallThanUsers = noClasses().that()
		.resideOutsideOfPackages(ROOT, CORE, ROOT + ".transaction..", ROOT + ".jpa..")
		.should()
		.dependOnClassesThat(resideInAPackage(CORE).and(not(type(BodyTransaction.class).or(type(TemplateAccess.class))
			.or(type(LockConfigurationException.class)))));

	@ArchTest
	static final ArchRule onlyMethodsTellTheTransactionOfTheirBody = noClasses().that()
		.resideOutsideOfPackages(ROOT, CORE, ROOT + ".interceptor..")
		.should()
		.dependOnClassesThat(type(BodyTransaction.class));

	@ArchTest
	static final ArchRule onlyAutoConfigurationAndActuatorKnowBoot = noClasses().that()
		.resideOutsideOfPackages(ROOT + ".autoconfigure..", ROOT + ".actuate..")
		.should()
		.dependOnClassesThat()
		.resideInAPackage("org.springframework.boot..");

	@ArchTest
	static final ArchRule jpaIsKnownInFewPlacesAndItsConfiguration = noClasses().that()
		.haveNameNotMatching(
				".*\\.(PersistenceContext|JoinedContext|IsolatedContexts|OuterEntityListener|JpaLockConfiguration)(\\$.*)?")
		.should()
		.dependOnClassesThat()
		.resideInAnyPackage("jakarta.persistence..", "org.hibernate..", "org.springframework.orm..");

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
	static void allSiblingsAreListed(JavaClasses classes) {
		assertThat(classes.stream()
			.map(JavaClass::getPackageName)
			.filter((name) -> name.startsWith(ROOT + ".") && !Set.of(CORE, ROOT + ".autoconfigure").contains(name))
			.map((name) -> name.substring(ROOT.length() + 1))
			.distinct()).containsExactlyInAnyOrderElementsOf(SIBLINGS.keySet());
	}

	@ArchTest
	static final ArchRule configurationClassesArePackagePrivate = classes().that()
		.resideInAPackage(ROOT + ".autoconfigure..")
		.and()
		.haveNameMatching(".*(LockConfiguration|Condition|FailureAnalyzer|Check)")
		.should()
		.notBePublic();

	@ArchTest
	static final ArchRule autoConfigurationsArePublicAndFinal = classes().that()
		.areAnnotatedWith(AutoConfiguration.class)
		.should()
		.bePublic()
		.andShould()
		.haveModifier(JavaModifier.FINAL);

	@ArchTest
	static final ArchRule nothingNeedsTheCommonPoolWhichTheApplicationMayBlock = noClasses().should()
		.callMethodWhere(usesTheCommonPool())
		.orShould()
		.dependOnClassesThat()
		.areAssignableTo(ForkJoinPool.class);

	/**
	 * What is on a connection of the application is committed by Spring, or by the
	 * clean-up of a transaction that has ended, which may be brought forward.
	 */
	@ArchTest
	static final ArchRule onlyOwnConnectionsAreCommitted = noClasses().that()
		.areNotAssignableTo(LockConnections.class)
		.and()
		.areNotAssignableTo(OwnTransaction.class)
		.should()
		.callMethodWhere(commits());

	private static DescribedPredicate<JavaMethodCall> commits() {
		return DescribedPredicate.describe("commit a connection", (call) -> {
			AccessTarget.CodeUnitCallTarget target = call.getTarget();
			boolean cleansUp = call.getOrigin().getName().equals("cleanUp")
					&& call.getOriginOwner().getSimpleName().equals("BoundConnection");
			return target.getOwner().isAssignableTo(Connection.class)
					&& (target.getName().equals("commit") || (target.getName().equals("setAutoCommit") && !cleansUp));
		});
	}

	private static DescribedPredicate<JavaMethodCall> usesTheCommonPool() {
		Set<String> timed = Set.of("orTimeout", "completeOnTimeout", "delayedExecutor", "parallel", "parallelStream");
		return DescribedPredicate.describe("use the common pool", (call) -> {
			AccessTarget.CodeUnitCallTarget target = call.getTarget();
			boolean asynchronous = target.getOwner().isAssignableTo(CompletionStage.class)
					&& target.getName().endsWith("Async")
					&& target.getRawParameterTypes().stream().noneMatch((type) -> type.isEquivalentTo(Executor.class));
			return asynchronous || timed.contains(target.getName());
		});
	}

	@ArchTest
	static final ArchRule everyPackageIsNullMarked = classes().that()
		.haveSimpleName("package-info")
		.should()
		.beAnnotatedWith(NullMarked.class);

	/**
	 * Classes of which each needs the other ones, by whatever way, can only be understood
	 * together.
	 */
	@ArchTest
	static void knotsOfClassesAreSmall(JavaClasses classes) {
		List<Set<String>> knots = ClassKnots.in(classes).stream().filter((knot) -> knot.size() > LARGEST_KNOT).toList();
		assertThat(knots).isEmpty();
	}

	@ArchTest
	static void rootListingFitsOneScreen(JavaClasses classes) {
		long publicTypes = classes.stream()
			.filter((type) -> type.getPackageName().equals(ROOT) && type.isTopLevelClass())
			.filter((type) -> type.getModifiers().contains(JavaModifier.PUBLIC))
			.count();
		assertThat(publicTypes).isLessThanOrEqualTo(MAX_PUBLIC_ROOT_TYPES);
	}

	/**
	 * What the library has reached. A number is raised only in a commit that says why.
	 */
	@ArchTest
	static void libraryStaysSmall(JavaClasses classes) {
		Figures figures = Figures.of(Path.of(".."));
		assertThat(figures.lines()).as("lines of code").isBetween(1, MOST_LINES);
		assertThat(figures.largestClass()).as("lines of the largest class").isBetween(1, LARGEST_CLASS);
		assertThat(figures.ninthDecile()).as("lines that nine classes in ten do not exceed")
			.isBetween(1, LARGEST_OF_NINE_CLASSES_IN_TEN);
		assertThat(figures.publicShare()).as("percentage of public types").isBetween(1, LARGEST_PUBLIC_SHARE);
		assertThat(figures.properties()).as("properties").isBetween(1, MOST_PROPERTIES);
		assertThat(figures.methodsOfTheSeam()).as("methods of HeldLock").isBetween(1, MOST_METHODS_OF_THE_SEAM);
	}

	/**
	 * Not what helps the tests.
	 */
	static class Library implements ImportOption {

		@Override
		public boolean includes(Location location) {
			return location.contains("/autoconfigure/target/classes/");
		}

	}

}
