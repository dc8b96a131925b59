package io.github.holdfast.cost;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;

import org.springframework.util.ClassUtils;

import io.github.holdfast.testsupport.RedisServer;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What a default call on {@code redis} goes through stays within what a reader can
 * follow, and is what the page about it says.
 */
@TestInstance(Lifecycle.PER_CLASS)
class CallWalkTests {

	private static final int MOST_FILES = 95;

	private static final int MOST_MUTABLE_FIELDS = 75;

	private static final Path PAGE = Path.of("..", "..", "docs", "internals", "path-of-a-call.md");

	/** Two words or more in one, as in {@code LockCall}. */
	private static final Pattern CLASS_NAME = Pattern.compile("\\b(?:[A-Z][a-z]+){2,}\\b");

	/** What is named there and not entered by a call of which nothing is refused. */
	private static final Set<String> OTHERS = Set.of("TransactionInterceptor", "LockBackend", "LockLostException",
			"CallWalkTests");

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
