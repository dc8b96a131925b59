package io.github.holdfast.testsupport;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The backends that keep their locks in Redis. */
public enum RedisStore {

	REDIS {

		@Override
		public ApplicationContextRunner application(DatabaseAccess database, int port) {
			return LockedApplication.jdbc(database)
				.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
				.withPropertyValues("holdfast.backend=redis", "spring.data.redis.host=127.0.0.1",
						"spring.data.redis.port=" + port);
		}

	},

	REDISSON {

		@Override
		public ApplicationContextRunner application(DatabaseAccess database, int port) {
			return LockedApplication.withRedisson(REDIS.application(database, port))
				.withPropertyValues("holdfast.backend=redisson");
		}

	};

	public abstract ApplicationContextRunner application(DatabaseAccess database, int port);

}
