package io.github.holdfast.test;

import java.nio.file.Path;
import java.util.Collection;
import java.util.List;

import org.junit.jupiter.api.Test;

import static org.assertj.core.api.Assertions.assertThat;

class PublicApiTests {

	private static final Path RECORDED = Path.of("src", "test", "resources", "api.txt");

	private static final List<Class<?>> API = List.of(AutoConfigureTestLocks.class, TestLocks.class,
			TestLocksAssert.class);

	@Test
	void apiIsTheRecordedOne() throws Exception {
		PublicApi.assertRecorded(RECORDED, api());
	}

	@Test
	void changeOfAMethodIsSeen() {
		assertThat(api())
			.contains("io.github.holdfast.test.TestLocksAssert public wasHeldDuringCommit(String) -> TestLocksAssert");
	}

	private static Collection<String> api() {
		return PublicApi.describe(API);
	}

}
