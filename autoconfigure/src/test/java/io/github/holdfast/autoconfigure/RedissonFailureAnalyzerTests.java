package io.github.holdfast.autoconfigure;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.redisson.client.RedisConnectionException;

import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.core.io.support.SpringFactoriesLoader;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The server of Redisson that is down is told as description and action.
 */
class RedissonFailureAnalyzerTests {

	@Test
	void serverThatIsDownIsToldWithWhatToDo() {
		FailureAnalysis analysis = new RedissonFailureAnalyzer().analyze(new BeanCreationException("redisson",
				new RedisConnectionException("Unable to connect to Redis server: 127.0.0.1/127.0.0.1:1")));
		assertThat(analysis).isNotNull();
		assertThat(analysis.getDescription())
			.isEqualTo("Redisson could not connect: Unable to connect to Redis server: 127.0.0.1/127.0.0.1:1.");
		assertThat(analysis.getAction()).contains("'spring.data.redis'", "'spring.redis.redisson'");
	}

	@Test
	void analyzerIsRegisteredAndDoesNotNeedRedisson() {
		assertThat(analyzers(getClass().getClassLoader())).hasAtLeastOneElementOfType(RedissonFailureAnalyzer.class);
		assertThat(analyzers(new FilteredClassLoader("org.redisson")))
			.anyMatch((analyzer) -> analyzer.getClass().getSimpleName().equals("LockConfigurationFailureAnalyzer"));
	}

	private static List<FailureAnalyzer> analyzers(ClassLoader loader) {
		return SpringFactoriesLoader.forDefaultResourceLocation(loader)
			.load(FailureAnalyzer.class, (type, name, failure) -> {
			});
	}

}
