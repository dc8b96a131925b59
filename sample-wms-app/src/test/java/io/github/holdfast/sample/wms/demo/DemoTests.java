package io.github.holdfast.sample.wms.demo;

import java.time.Duration;

import io.github.holdfast.testsupport.ChildJvm;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import static org.assertj.core.api.Assertions.assertThat;

/** The demo prints what the README says: without locks more is sold than there is. */
@Timeout(900)
@Tag("long")
class DemoTests {

	private static final String WITHOUT = "without locks: ";

	private static final String WITH = "with locks:    ";

	/** A busy machine starts its nodes slowly. */
	private static final Duration PATIENCE = Duration.ofMinutes(5);

	@Test
	void printsWhatTheReadmeSays() throws Exception {
		try (ChildJvm demo = ChildJvm.start(Demo.class)) {
			demo.await("60 orders at once for 20 items", PATIENCE);
			assertThat(confirmed(demo.await(WITHOUT, PATIENCE))).isGreaterThan(20);
			assertThat(demo.await(WITH, PATIENCE)).isEqualTo("20 x 200, 40 x 409, 0 items left");
		}
	}

	private static int confirmed(String answers) {
		return Integer.parseInt(answers.substring(0, answers.indexOf(" x 200")));
	}

}
