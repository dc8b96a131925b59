package io.github.holdfast.testsupport;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The backends that keep their locks in Redis. */
public enum RedisStore {

	/** Through Spring Data Redis. */
	REDIS {

		@Override
		public ApplicationContextRunner application(DatabaseAccess database, int port) {
			return LockedApplication.jdbc(database)
				.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
				.withPropertyValues("holdfast.backend=redis", "spring.data.redis.host=127.0.0.1",
						"spring.data.redis.port=" + port);
		}

	},

	/** Through Redisson. */
	REDISSON {

		@Override
		public ApplicationContextRunner application(DatabaseAccess database, int port) {
			return LockedApplication.withRedisson(REDIS.application(database, port))
				.withPropertyValues("holdfast.backend=redisson");
		}

	};

	/** An application with a DataSource and a transaction manager. */
	public abstract ApplicationContextRunner application(DatabaseAccess database, int port);

}
