package io.github.holdfast;

import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import com.tngtech.archunit.lang.ArchRule;
import org.jspecify.annotations.NullMarked;

import org.springframework.boot.autoconfigure.AutoConfiguration;

import io.github.holdfast.core.BodyTransaction;

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
@AnalyzeClasses(packages = "io.github.holdfast", importOptions = ImportOption.DoNotIncludeTests.class)
class ArchitectureTests {

	private static final String ROOT = "io.github.holdfast";

	/** The inside of what is in the root: both know each other. */
	private static final String CORE = ROOT + ".core";

	/** What each package may know besides the root and what all parts need. */
	private static final Map<String, Set<String>> SIBLINGS = Map.ofEntries(entry("support", Set.of()),
			entry("interceptor", Set.of()), entry("sql", Set.of()), entry("fence", Set.of("sql")),
			entry("optimistic", Set.of("fence", "sql")), entry("transaction", Set.of("fence", "optimistic", "sql")),
			entry("handover", Set.of()), entry("observation", Set.of()), entry("local", Set.of()),
			entry("jdbc", Set.of("fence", "sql")), entry("session", Set.of("fence", "sql")), entry("redis", Set.of()),
			entry("etcd", Set.of()), entry("zookeeper", Set.of()), entry("actuate", Set.of()));

	private static final int MAX_PUBLIC_ROOT_TYPES = 14;

	private static final int LARGEST_KNOT = 4;

	@ArchTest
	static final ArchRule packagesHaveNoCycles = slices().matching(ROOT + ".(*)..").should().beFreeOfCycles();

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
		.resideOutsideOfPackages(ROOT, CORE, ROOT + ".transaction..", ROOT + ".session..")
		.should()
		.dependOnClassesThat(resideInAPackage(CORE).and(not(type(BodyTransaction.class))));

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
	static void siblingsKnowOnlyRootAndSupportAndWhatIsListed(JavaClasses classes) {
		SIBLINGS.forEach((sibling, others) -> {
			Set<String> known = new HashSet<>(others);
			known.add(sibling);
			known.add("support");
			String[] packages = known.stream().map((name) -> ROOT + "." + name + "..").toArray(String[]::new);
			classes().that()
				.resideInAPackage(ROOT + "." + sibling + "..")
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

}
