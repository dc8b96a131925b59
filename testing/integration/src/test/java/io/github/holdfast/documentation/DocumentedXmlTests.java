package io.github.holdfast.documentation;

import java.io.IOException;
import java.io.StringReader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;

import javax.xml.parsers.DocumentBuilderFactory;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.w3c.dom.Element;
import org.w3c.dom.Node;
import org.w3c.dom.NodeList;
import org.xml.sax.InputSource;

import org.springframework.core.io.ClassPathResource;

import static org.assertj.core.api.Assertions.assertThat;

/** The dependencies in the pages are those that the build tests with. */
class DocumentedXmlTests {

	private static final Pattern GRADLE = Pattern.compile("implementation\\(\"([^\"]*)\"\\)");

	static List<Documentation.Block> blocks() throws IOException {
		return Documentation.blocks("xml");
	}

	@ParameterizedTest
	@MethodSource("blocks")
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

}
