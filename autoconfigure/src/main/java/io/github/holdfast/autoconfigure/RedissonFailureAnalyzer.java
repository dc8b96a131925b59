package io.github.holdfast.autoconfigure;

import org.redisson.client.RedisConnectionException;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.util.StringUtils;

/**
 * Tells that the server of the application's Redisson is down, which connects before
 * anything here is asked.
 */
class RedissonFailureAnalyzer extends AbstractFailureAnalyzer<RedisConnectionException> {

	@Override
	protected FailureAnalysis analyze(Throwable rootFailure, RedisConnectionException cause) {
		String reason = StringUtils.trimTrailingCharacter(String.valueOf(cause.getMessage()), '.');
		return new FailureAnalysis("Redisson could not connect: " + reason + ".",
				"Check that Redis is running, and its address in 'spring.data.redis' or 'spring.redis.redisson'.",
				cause);
	}

}
