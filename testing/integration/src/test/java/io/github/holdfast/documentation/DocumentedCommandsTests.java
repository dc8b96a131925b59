package io.github.holdfast.documentation;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;
import javax.xml.parsers.DocumentBuilderFactory;

import com.zaxxer.hikari.HikariDataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ScriptUtils;

import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The statements in the pages can be executed, on at least one database; the dependencies
 * are those of the build; a shell can parse the commands, and what they name exists.
 */
class DocumentedCommandsTests {

	static List<Documentation.Block> sql() throws IOException {
		return Documentation.blocks("sql");
	}

	@ParameterizedTest
	@MethodSource("sql")
	void statementsCanBeExecuted(Documentation.Block block) {
		List<String> failures = new ArrayList<>();
		for (TestDatabase database : TestDatabase.values()) {
			try (HikariDataSource dataSource = database.newDatabase().dataSource(1)) {
				execute(database, dataSource, block.text());
			}
			catch (SQLException ex) {
				failures.add(database + ": " + ex.getMessage());
			}
		}
		assertThat(failures).hasSizeLessThan(TestDatabase.values().length);
	}

	private static void execute(TestDatabase database, DataSource dataSource, String sql) throws SQLException {
		try (Connection connection = dataSource.getConnection(); Statement statement = connection.createStatement()) {
			ScriptUtils.executeSqlScript(connection,
					new ClassPathResource("io/github/holdfast/jdbc/schema-" + database.platform() + ".sql"));
			connection.setAutoCommit(false);
			if (database == TestDatabase.POSTGRESQL) {
				statement.execute("CREATE ROLE shop_app");
			}
			for (String each : sql.split(";")) {
				if (!each.isBlank()) {
					statement.execute(each);
				}
			}
			connection.rollback();
		}
	}

	private static final Pattern GRADLE = Pattern.compile("implementation\\(\"([^\"]*)\"\\)");

	static List<Documentation.Block> xml() throws IOException {
		return Documentation.blocks("xml");
	}

	@ParameterizedTest
	@MethodSource("xml")
	void namesWhatTheBuildHas(Documentation.Block block) throws Exception {
		Element root = DocumentBuilderFactory.newInstance()
			.newDocumentBuilder()
			.parse(new InputSource(new StringReader(block.text())))
			.getDocumentElement();
		if (root.getTagName().equals("dependency")) {
			assertBuildHas("<artifactId>" + child(root, "artifactId") + "</artifactId>");
			if (root.getElementsByTagName("version").getLength() > 0) {
				assertBuildHas(">" + child(root, "version") + "</");
			}
		}
		else if (root.getTagName().equals("plugin")) {
			assertBuildHas("<artifactId>" + child(root, "artifactId") + "</artifactId>");
			assertBuildHas("<goal>" + child(root, "goal") + "</goal>");
		}
		else {
			String script = ((Element) root.getElementsByTagName("sqlFile").item(0)).getAttribute("path");
			assertThat(new ClassPathResource(script).exists()).isTrue();
		}
	}

	private static void assertBuildHas(String element) throws IOException {
		assertThat(builds().contains(element)).as("the build has %s", element).isTrue();
	}

	@Test
	void gradleNamesWhatMavenDoes() throws Exception {
		Element project = DocumentBuilderFactory.newDefaultInstance()
			.newDocumentBuilder()
			.parse(Documentation.ROOT.resolve("pom.xml").toFile())
			.getDocumentElement();
		List<Documentation.Page> pages = Documentation.pages()
			.stream()
			.filter((page) -> GRADLE.matcher(page.text()).find())
			.toList();
		assertThat(pages).allSatisfy((page) -> assertThat(page.text()).as(page.toString()).contains("mavenLocal()"));
		List<String> dependencies = pages.stream()
			.flatMap((page) -> GRADLE.matcher(page.text()).results())
			.map((dependency) -> dependency.group(1))
			.toList();
		assertThat(dependencies).isNotEmpty()
			.containsOnly("io.github.holdfast:holdfast-spring-boot-starter:" + version(project));
	}

	private static String version(Element project) {
		for (Node child = project.getFirstChild(); child != null; child = child.getNextSibling()) {
			if (child.getNodeName().equals("version")) {
				return child.getTextContent();
			}
		}
		throw new IllegalStateException("The project has no version");
	}

	private static String child(Element element, String name) {
		NodeList children = element.getElementsByTagName(name);
		assertThat(children.getLength()).as(name).isOne();
		return children.item(0).getTextContent();
	}

	private static String builds() throws IOException {
		StringBuilder builds = new StringBuilder();
		for (String module : List.of("", "starter", "autoconfigure", "sample-wms-app")) {
			Path build = Documentation.ROOT.resolve(module).resolve("pom.xml");
			builds.append(Files.readString(build));
		}
		return builds.toString();
	}

	private static final Pattern MODULES = Pattern.compile(" -pl ([\\w/,-]+)");

	private static final Pattern PROFILES = Pattern.compile(" -P ?([\\w,-]+)");

	private static final Pattern TESTS = Pattern.compile(" -D(?:it\\.)?test='?([\\w,]+)");

	private static final Pattern CLASSES = Pattern.compile("io\\.github\\.holdfast(?:\\.\\w+)+");

	private static final Set<String> NO_TESTS = Set.of("NoSuchTests");

	static List<Documentation.Block> shell() throws IOException {
		return Documentation.blocks("shell");
	}

	@ParameterizedTest
	@MethodSource("shell")
	@DisabledOnOs(OS.WINDOWS)
	void shellParsesIt(Documentation.Block block) throws Exception {
		Process shell = new ProcessBuilder("bash", "-n").redirectErrorStream(true).start();
		try {
			shell.outputWriter().append(block.text()).close();
			assertThat(shell.waitFor(10, TimeUnit.SECONDS)).isTrue();
			assertThat(new String(shell.getInputStream().readAllBytes())).isEmpty();
		}
		finally {
			shell.destroyForcibly();
		}
	}

	@ParameterizedTest
	@MethodSource("shell")
	void namesWhatIsThere(Documentation.Block block) throws IOException {
		assertThat(names(MODULES, block)).allSatisfy((name) -> assertThat(Documentation.ROOT.resolve(name)).exists());
		String build = Files.readString(Documentation.ROOT.resolve("pom.xml"));
		assertThat(names(PROFILES, block)).allSatisfy((name) -> assertThat(build).contains("<id>" + name + "</id>"));
		Set<String> sources = sources();
		assertThat(names(TESTS, block)).filteredOn((name) -> !NO_TESTS.contains(name)).isSubsetOf(sources);
		assertThat(CLASSES.matcher(block.text()).results().map(MatchResult::group))
			.allSatisfy((name) -> assertThat(sources).contains(name.substring(name.lastIndexOf('.') + 1)));
	}

	private static List<String> names(Pattern pattern, Documentation.Block block) {
		return pattern.matcher(block.text())
			.results()
			.flatMap((match) -> Stream.of(match.group(1).split(",")))
			.toList();
	}

	/** The names of all classes that have a file. */
	private static Set<String> sources() throws IOException {
		return Documentation.files(".java")
			.stream()
			.map((file) -> file.getFileName().toString().replace(".java", ""))
			.collect(Collectors.toSet());
	}

}
