package io.github.holdfast.cost;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/** What a default call on {@code redis} goes through stays within limits. */
@Tag("long")
@TestInstance(Lifecycle.PER_CLASS)
class CallWalkTests {

	private static final int MOST_FILES = 30;

	private static final int MOST_MUTABLE_FIELDS = 30;

	private CallWalk claimed;

	private CallWalk installed;

	@BeforeAll
	void walk() throws Exception {
		int redis = RedisServer.shared().port();
		this.claimed = CallWalk.of(redis, "claimed");
		this.installed = CallWalk.of(redis, "installed");
		System.out.println("claimed: " + this.claimed + "\ninstalled: " + this.installed);
	}

	@Test
	void callEntersFewFiles() {
		assertThat(this.claimed.files()).hasSizeBetween(1, MOST_FILES);
		assertThat(this.installed.files()).hasSizeBetween(1, MOST_FILES);
	}

	@Test
	void callChangesFewFields() {
		assertThat(this.claimed.mutableFields()).isBetween(1, MOST_MUTABLE_FIELDS);
		assertThat(this.installed.mutableFields()).isBetween(1, MOST_MUTABLE_FIELDS);
	}

}
