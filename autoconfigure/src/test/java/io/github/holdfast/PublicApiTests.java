package io.github.holdfast;

import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.boot.json.JsonParserFactory;

import io.github.holdfast.autoconfigure.HoldfastDataSource;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.FencedLockBackend;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.observation.DefaultLockObservationConvention;
import io.github.holdfast.observation.LockObservationContext;
import io.github.holdfast.observation.LockObservationConvention;
import io.github.holdfast.observation.LockObservationDocumentation;
import io.github.holdfast.optimistic.OptimisticLockBackend;
import io.github.holdfast.store.DelegatingLockBackend;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.testsupport.PublicApi;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What users can call, implement and configure is what was recorded. A change is recorded
 * by {@code -Dtest.record-api}, and seen by who reads the commit.
 */
class PublicApiTests {

	private static final Path RECORDED = Path.of("src", "test", "resources", "api.txt");

	/** Beside the root package. */
	private static final List<Class<?>> OTHERS = List.of(HoldfastDataSource.class, LockConfigurationException.class,
			Fence.class, RowFence.class, FenceTable.class, FencedLockBackend.class, HandoverLockBackend.class,
			OptimisticLockBackend.class, DelegatingLockBackend.class, LockObservationContext.class,
			LockObservationConvention.class, DefaultLockObservationConvention.class,
			LockObservationDocumentation.class);

	@Test
	void apiIsTheRecordedOne() throws Exception {
		PublicApi.assertRecorded(RECORDED, api());
	}

	@Test
	void changeOfAMethodIsSeen() throws Exception {
		assertThat(api()).contains(
				"io.github.holdfast.LockBackend public abstract acquire(LockRequest) throws InterruptedException -> @Nullable LockLease",
				"io.github.holdfast.DistributedLock public abstract waitTime() = \"\" -> String",
				"holdfast.wait-time Duration = 5s");
	}

	private static Collection<String> api() throws Exception {
		Collection<String> api = PublicApi.describe(types());
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
		return types;
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
		return property.get("name") + " " + PublicApi.simple(String.valueOf(property.get("type")))
				+ ((value != null) ? " = " + value : "");
	}

}
