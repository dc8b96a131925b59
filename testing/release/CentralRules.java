import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.jar.JarFile;
import java.util.stream.Stream;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.xpath.XPath;
import javax.xml.xpath.XPathFactory;

import org.w3c.dom.Document;

/**
 * Checks what Maven Central asks for, in a folder with the layout of a repository:
 * {@code java CentralRules.java <folder>}. See
 * https://central.sonatype.org/publish/requirements/.
 */
public final class CentralRules {

	private static final List<String> REQUIRED = List.of("/project/groupId", "/project/artifactId", "/project/version",
			"/project/name", "/project/description", "/project/url", "/project/licenses/license/name",
			"/project/licenses/license/url", "/project/developers/developer/name", "/project/scm/connection",
			"/project/scm/developerConnection", "/project/scm/url");

	private final XPath xpath = XPathFactory.newInstance().newXPath();

	private final List<String> problems = new ArrayList<>();

	private CentralRules() {
	}

	public static void main(String[] args) throws Exception {
		CentralRules rules = new CentralRules();
		List<Path> poms = find(Path.of(args[0]), ".pom");
		if (poms.isEmpty()) {
			rules.problems.add("There is nothing in " + args[0]);
		}
		for (Path pom : poms) {
			rules.check(pom);
		}
		for (Path signed : find(Path.of(args[0]), ".pom", ".jar", ".json")) {
			rules.checkFile(signed);
		}
		if (!rules.problems.isEmpty()) {
			rules.problems.forEach(System.err::println);
			System.exit(1);
		}
		System.out.println(poms.size() + " artifacts have what Maven Central asks for");
	}

	private void check(Path pom) throws Exception {
		Document document = DocumentBuilderFactory.newInstance().newDocumentBuilder().parse(pom.toFile());
		for (String path : REQUIRED) {
			if (text(document, path).isBlank()) {
				this.problems.add(pom.getFileName() + ": no " + path);
			}
		}
		String version = text(document, "/project/version");
		if (version.toUpperCase(Locale.ROOT).endsWith("SNAPSHOT")) {
			this.problems.add(pom.getFileName() + ": a snapshot");
		}
		for (String unwanted : List.of("/project/parent", "/project/repositories", "/project/pluginRepositories",
				"//dependency[not(version)]", "//dependency[contains(version, 'SNAPSHOT')]",
				"//dependency[contains(version, '${')]", "/project/dependencies/dependency[scope = 'test']")) {
			if (!this.xpath.evaluate("count(" + unwanted + ")", document).equals("0")) {
				this.problems.add(pom.getFileName() + ": there is " + unwanted);
			}
		}
		String name = pom.getFileName().toString().replaceFirst("\\.pom$", "");
		for (String suffix : List.of(".jar", "-sources.jar", "-javadoc.jar", "-cyclonedx.json")) {
			if (!Files.exists(pom.resolveSibling(name + suffix))) {
				this.problems.add("no " + name + suffix);
			}
		}
		checkModuleName(pom.resolveSibling(name + ".jar"));
	}

	/**
	 * Not of Maven Central, but of those who have a module path: without it, the name of
	 * the file is the name of the module.
	 */
	private void checkModuleName(Path jar) throws IOException {
		if (!Files.exists(jar)) {
			return;
		}
		try (JarFile file = new JarFile(jar.toFile())) {
			String module = file.getManifest().getMainAttributes().getValue("Automatic-Module-Name");
			if (module == null || module.endsWith("unpublished")) {
				this.problems.add(jar.getFileName() + ": Automatic-Module-Name is " + module);
			}
		}
	}

	private String text(Document document, String path) throws Exception {
		return this.xpath.evaluate(path, document).strip();
	}

	private void checkFile(Path file) throws Exception {
		if (!Files.exists(file.resolveSibling(file.getFileName() + ".asc"))) {
			this.problems.add(file.getFileName() + ": not signed");
		}
		for (String algorithm : List.of("MD5", "SHA-1")) {
			Path sum = file.resolveSibling(file.getFileName() + "." + algorithm.toLowerCase(Locale.ROOT).replace("-", ""));
			String expected = HexFormat.of()
				.formatHex(MessageDigest.getInstance(algorithm).digest(Files.readAllBytes(file)));
			if (!Files.exists(sum) || !Files.readString(sum).strip().equals(expected)) {
				this.problems.add(file.getFileName() + ": no " + algorithm + ", or a wrong one");
			}
		}
	}

	private static List<Path> find(Path folder, String... suffixes) throws IOException {
		try (Stream<Path> files = Files.walk(folder)) {
			return files.filter((file) -> Stream.of(suffixes).anyMatch(file.toString()::endsWith)).sorted().toList();
		}
	}

}
