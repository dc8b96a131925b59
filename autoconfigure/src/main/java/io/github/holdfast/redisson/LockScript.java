package io.github.holdfast.redisson;

/**
 * What is done to a lock that {@code RLock} has no method for, or does not do for a
 * holder that is not a thread. The keys are those of {@link LockNames#keys()}, for fair
 * waiters those of {@link LockNames#keysOfQueue()}; the first argument is the field of
 * the holder.
 */
enum LockScript {

	/**
	 * Starts the lease of a lock that was just taken. Answers with its epoch, or with 0
	 * if the lock is no longer the holder's.
	 */
	START("""
			if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
				return 0
			end
			local time = redis.call('time')
			local now = time[1] * 1000000 + time[2]
			local last = tonumber(redis.call('hget', KEYS[2], 'epoch') or 0)
			local epoch = math.max(last + 1, now, tonumber(ARGV[4]))
			redis.call('pexpire', KEYS[1], ARGV[2])
			redis.call('hset', KEYS[2], 'epoch', string.format('%.0f', epoch), 'owner', ARGV[1], 'holder', ARGV[5])
			redis.call('pexpire', KEYS[2], ARGV[3])
			for n = 3, #KEYS do
				redis.call('zrem', KEYS[n], ARGV[1])
			end
			return epoch
			"""),

	/**
	 * Extends a lease. Answers with 1, or with 0 if the lock is no longer the holder's.
	 */
	RENEW("""
			if redis.call('hexists', KEYS[1], ARGV[1]) == 0 then
				return 0
			end
			redis.call('pexpire', KEYS[1], ARGV[2])
			redis.call('pexpire', KEYS[2], ARGV[3])
			return 1
			"""),

	/**
	 * Gives a lock back and tells those who wait. Answers with 1 and as many as were
	 * told, with 2 if it was free but nobody else has held it since, or with 0.
	 */
	RELEASE("""
			if redis.call('hexists', KEYS[1], ARGV[1]) == 1 then
				redis.call('del', KEYS[1])
				return 1 + redis.call('publish', ARGV[2], '1')
			end
			if redis.call('exists', KEYS[1]) == 0 and redis.call('hget', KEYS[2], 'owner') == ARGV[1] then
				return 2
			end
			return 0
			"""),

	/**
	 * Takes a place in the queue of fair waiters, or keeps it for another while. Answers
	 * with 1 if the lock is free and nobody came earlier, or with 0.
	 */
	QUEUE("""
			local time = redis.call('time')
			local now = time[1] * 1000000 + time[2]
			for _, gone in ipairs(redis.call('zrangebyscore', KEYS[4], '-inf', now)) do
				redis.call('zrem', KEYS[3], gone)
				redis.call('zrem', KEYS[4], gone)
			end
			if not redis.call('zscore', KEYS[3], ARGV[1]) then
				local last = redis.call('zrevrange', KEYS[3], 0, 0, 'withscores')
				redis.call('zadd', KEYS[3], math.max((last[2] or 0) + 1, now), ARGV[1])
			end
			redis.call('zadd', KEYS[4], now + ARGV[2] * 1000, ARGV[1])
			redis.call('pexpire', KEYS[3], ARGV[2])
			redis.call('pexpire', KEYS[4], ARGV[2])
			if redis.call('exists', KEYS[1]) == 0 and redis.call('zrank', KEYS[3], ARGV[1]) == 0 then
				return 1
			end
			return 0
			"""),

	/**
	 * Gives up a place in the queue, and tells those who may be the first now.
	 */
	LEAVE("""
			redis.call('zrem', KEYS[4], ARGV[1])
			if redis.call('zrem', KEYS[3], ARGV[1]) == 1 then
				redis.call('publish', ARGV[2], '1')
			end
			return 1
			"""),

	/**
	 * Answers with the milliseconds for which the lock is still held, and the holder.
	 */
	HOLDER("""
			return {redis.call('pttl', KEYS[1]), redis.call('hget', KEYS[2], 'holder')}
			""");

	private final String text;

	LockScript(String text) {
		this.text = text;
	}

	String text() {
		return this.text;
	}

}
