package io.github.holdfast;

import java.time.Clock;
import java.time.Instant;
import java.util.Calendar;
import java.util.Date;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import io.github.holdfast.store.local.LocalLockBackend;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaCall.Predicates.target;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.equivalentTo;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.properties.HasName.Predicates.name;
import static com.tngtech.archunit.core.domain.properties.HasOwner.Predicates.With.owner;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * No jump of the wall clock of an application host can do anything, as nothing in the
 * library looks at it but the first token of local locks, and what operators are shown.
 */
@Tag("F26")
class AppClockTests {

	private static final JavaClasses library = new ClassFileImporter()
		.withImportOption(new ImportOption.DoNotIncludeTests())
		.importPackages("io.github.holdfast");

	private static final ArchRule noWallClock = noClasses().should()
		.callMethod(System.class, "currentTimeMillis")
		.orShould()
		.callMethodWhere(target(name("now")).and(target(owner(resideInAPackage("java.time..")))))
		.orShould()
		.dependOnClassesThat()
		.belongToAnyOf(Clock.class, Date.class, Calendar.class);

	@Test
	void libraryDoesNotLookAtTheWallClock() {
		noWallClock.check(library.that(
				not(equivalentTo(LocalLockBackend.class)).and(not(resideInAPackage("io.github.holdfast.actuate..")))));
	}

	@Test
	void localLocksLookAtTheWallClockOnceWhenTheirClassIsLoaded() {
		assertThat(library.get(LocalLockBackend.class).getMethodCallsFromSelf())
			.filteredOn((call) -> call.getTarget().getName().equals("currentTimeMillis"))
			.extracting((call) -> call.getOrigin().getName())
			.containsExactly("<clinit>");
	}

	/**
	 * Shows that the rule would notice.
	 */
	@Test
	void ruleSeesAClassThatLooksAtTheWallClock() {
		assertThatExceptionOfType(AssertionError.class)
			.isThrownBy(() -> noWallClock.check(new ClassFileImporter().importClasses(LooksAtTheClock.class)))
			.withMessageContaining("Instant.now()");
	}

	private static final class LooksAtTheClock {

		@SuppressWarnings("unused")
		private final Object time = Instant.now();

	}

}
