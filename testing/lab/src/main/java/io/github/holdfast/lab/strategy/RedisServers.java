package io.github.holdfast.lab.strategy;

import java.util.List;

import org.springframework.data.redis.core.StringRedisTemplate;

/**
 * Independent servers of Redis.
 *
 * @param templates one for each
 */
public record RedisServers(List<StringRedisTemplate> templates) {

	public RedisServers {
		templates = List.copyOf(templates);
	}

}
