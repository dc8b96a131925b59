package io.github.holdfast.benchmarks.redis;

/**
 * A way to lock in Redis, with its defaults.
 */
public enum RedisContender {

	/** The annotation on a method with a transaction, on the backend {@code redis}. */
	HOLDFAST_REDIS {

		@Override
		LockClient open(int port) {
			return HoldfastLockClient.annotation("redis", port);
		}

	},

	/** A {@code LockTemplate} without a transaction, on the backend {@code redis}. */
	HOLDFAST_REDIS_TEMPLATE {

		@Override
		LockClient open(int port) {
			return HoldfastLockClient.template("redis", port);
		}

	},

	/** The annotation on a method with a transaction, on the backend {@code redisson}. */
	HOLDFAST_REDISSON {

		@Override
		LockClient open(int port) {
			return HoldfastLockClient.annotation("redisson", port);
		}

	},

	/** Redisson's {@code RLock}. */
	REDISSON {

		@Override
		LockClient open(int port) {
			return new RedissonLockClient(port);
		}

	},

	/** Lock4j on Redisson. */
	LOCK4J_REDISSON {

		@Override
		LockClient open(int port) {
			return Lock4jLockClient.redisson(port);
		}

	},

	/** Lock4j on a {@code RedisTemplate}. */
	LOCK4J_REDIS_TEMPLATE {

		@Override
		LockClient open(int port) {
			return Lock4jLockClient.redisTemplate(port);
		}

	},

	/** {@code SET NX} and a script that compares and deletes, on Lettuce. */
	BARE_COMMANDS {

		@Override
		LockClient open(int port) {
			return new BareLockClient(port);
		}

	};

	abstract LockClient open(int port);

}
