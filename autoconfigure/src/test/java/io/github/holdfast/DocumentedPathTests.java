package io.github.holdfast;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The page about the inside of a call names classes that exist.
 */
@AnalyzeClasses(packages = "io.github.holdfast", importOptions = ImportOption.DoNotIncludeTests.class)
class DocumentedPathTests {

	private static final Path PAGE = Path.of("..", "docs", "internals", "path-of-a-call.md");

	/** Two words or more in one, as in {@code LockCall}. */
	private static final Pattern CLASS_NAME = Pattern.compile("\\b(?:[A-Z][a-z]+){2,}\\b");

	private static final Set<String> OF_SPRING = Set.of("TransactionInterceptor");

	@ArchTest
	static void classesOfThePathExist(JavaClasses classes) throws IOException {
		Set<String> known = classes.stream().map(JavaClass::getSimpleName).collect(Collectors.toSet());
		Set<String> named = CLASS_NAME.matcher(Files.readString(PAGE))
			.results()
			.map((result) -> result.group())
			.collect(Collectors.toCollection(TreeSet::new));
		assertThat(named).contains("LockCall", "LockStack", "CommitCheck");
		named.removeAll(OF_SPRING);
		assertThat(known).containsAll(named);
	}

}
