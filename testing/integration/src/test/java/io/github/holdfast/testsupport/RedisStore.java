package io.github.holdfast.testsupport;

import java.util.stream.Stream;

import org.junit.jupiter.params.provider.Arguments;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/**
 * The backends that keep their locks in Redis.
 */
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

	/**
	 * An application with a DataSource and a transaction manager.
	 * @param database the business database
	 * @param port the local port of Redis
	 * @return the application, with this backend
	 */
	public abstract ApplicationContextRunner application(DatabaseAccess database, int port);

	/**
	 * Each store beside a database of its own.
	 * @return arguments for tests
	 */
	public static Stream<Arguments> onOneDatabase() {
		return Stream.of(Arguments.of(REDIS, TestDatabase.MARIADB), Arguments.of(REDISSON, TestDatabase.POSTGRESQL));
	}

	/**
	 * Each store beside those databases that are not in {@link #onOneDatabase()}.
	 * @return arguments for tests
	 */
	public static Stream<Arguments> onOtherDatabases() {
		return Stream.of(Arguments.of(REDIS, TestDatabase.H2), Arguments.of(REDIS, TestDatabase.POSTGRESQL),
				Arguments.of(REDISSON, TestDatabase.H2), Arguments.of(REDISSON, TestDatabase.MARIADB));
	}

}
