package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;

import io.github.holdfast.store.Digest;

/**
 * What Redis does with locks, each in one step. A held lock is a hash with {@code owner},
 * {@code epoch} and {@code holder} that expires with the lease. A counter is a hash with
 * the {@code epoch} and the {@code owner} of the last grant that expires long after it.
 *
 * <p>
 * Clients send a script again when its answer was lost with the connection, so each may
 * run twice for one request.
 */
enum LockScript {

	/**
	 * Takes all locks or none. Answers with their epochs, or with 0, the milliseconds
	 * after which the lease of another holder ends, and its owner. What the owner has
	 * already is only raised to the smallest epoch that it asks for.
	 */
	ACQUIRE("""
			local last = math.floor((#ARGV - 2) / 3) - 1
			local grants = {}
			for n = 0, last do
				local held = redis.call('hmget', KEYS[2 * n + 1], 'owner', 'epoch')
				if held[1] == ARGV[3 * n + 3] then
					grants[n + 1] = tonumber(held[2])
				elseif held[1] then
					return {0, redis.call('pttl', KEYS[2 * n + 1]), held[1]}
				end
			end
			local time = redis.call('time')
			local now = time[1] * 1000000 + time[2]
			for n = 0, last do
				local epoch, minimum = grants[n + 1], tonumber(ARGV[3 * n + 5])
				if not epoch or epoch < minimum then
					local lock, counter = KEYS[2 * n + 1], KEYS[2 * n + 2]
					local owner, holder = ARGV[3 * n + 3], ARGV[3 * n + 4]
					local before = tonumber(redis.call('hget', counter, 'epoch') or 0)
					epoch = epoch and minimum or math.max(before + 1, now, minimum)
					local text = string.format('%.0f', epoch)
					redis.call('hset', lock, 'owner', owner, 'epoch', text, 'holder', holder)
					redis.call('pexpire', lock, ARGV[1])
					redis.call('hset', counter, 'epoch', text, 'owner', owner)
					redis.call('pexpire', counter, ARGV[2])
					grants[n + 1] = epoch
				end
			end
			return grants
			"""),

	/**
	 * Takes one lock as soon as nobody has waited for it longer. Who does not get it
	 * takes a place in the queue, or keeps it for another while; the answer is as above
	 * then.
	 */
	ACQUIRE_IN_TURN("""
			local owner, queue, tickets = ARGV[3], KEYS[3], KEYS[4]
			local clock = redis.call('time')
			local arrival = clock[1] * 1000000 + clock[2]
			for _, gone in ipairs(redis.call('zrangebyscore', tickets, '-inf', arrival)) do
				redis.call('zrem', queue, gone)
				redis.call('zrem', tickets, gone)
			end
			local first = redis.call('zrange', queue, 0, 0)[1]
			local holding = redis.call('hget', KEYS[1], 'owner')
			if holding ~= owner and (holding or (first and first ~= owner)) then
				if not redis.call('zscore', queue, owner) then
					local latest = redis.call('zrevrange', queue, 0, 0, 'withscores')
					redis.call('zadd', queue, math.max((latest[2] or 0) + 1, arrival), owner)
				end
				redis.call('zadd', tickets, arrival + ARGV[6] * 1000, owner)
				redis.call('pexpire', queue, ARGV[6])
				redis.call('pexpire', tickets, ARGV[6])
				return {0, redis.call('pttl', KEYS[1]), holding or first}
			end
			redis.call('zrem', queue, owner)
			redis.call('zrem', tickets, owner)
			""", ACQUIRE),

	/**
	 * Gives up a place in the queue, and tells those who may be the first now.
	 */
	LEAVE("""
			redis.call('zrem', KEYS[4], ARGV[1])
			if redis.call('zrem', KEYS[3], ARGV[1]) == 1 then
				redis.call('publish', ARGV[2], '1')
			end
			return {1}
			"""),

	/**
	 * Extends a lease. Answers with 1, or with 0 if the lock is no longer the owner's.
	 */
	RENEW("""
			if redis.call('hget', KEYS[1], 'owner') ~= ARGV[1] then
				return {0}
			end
			redis.call('pexpire', KEYS[1], ARGV[2])
			redis.call('pexpire', KEYS[2], ARGV[3])
			return {1}
			"""),

	/**
	 * Gives a lock back and tells those who wait. Answers with 1 and the number of those
	 * who were told, with 1 if it was free but nobody else has held it since, or with 0.
	 */
	RELEASE("""
			local owner = redis.call('hget', KEYS[1], 'owner')
			if owner == ARGV[1] then
				redis.call('del', KEYS[1])
				return {1, redis.call('publish', ARGV[2], '1')}
			end
			if not owner and redis.call('hget', KEYS[2], 'owner') == ARGV[1] then
				return {1}
			end
			return {0}
			"""),

	/**
	 * Answers with the owner, if any, the holder, the epoch, the milliseconds after which
	 * the lease ends, and the time in milliseconds.
	 */
	HOLDER("""
			local held = redis.call('hmget', KEYS[1], 'owner', 'holder', 'epoch')
			if not held[1] then
				return {false}
			end
			local time = redis.call('time')
			local now = time[1] * 1000 + math.floor(time[2] / 1000)
			return {held[1], held[2], tonumber(held[3]), redis.call('pttl', KEYS[1]), now}
			"""),

	/**
	 * Answers with the time, in seconds and microseconds. Touches nothing; the key leads
	 * to a server.
	 */
	PROBE("""
			local time = redis.call('time')
			return {tonumber(time[1]), tonumber(time[2])}
			""");

	private final String lua;

	private final byte[] text;

	private final String digest;

	LockScript(String text) {
		this.lua = text;
		this.text = text.getBytes(StandardCharsets.UTF_8);
		this.digest = Digest.SHA_1.hex(this.text);
	}

	LockScript(String before, LockScript then) {
		this(before + then.lua);
	}

	String lua() {
		return this.lua;
	}

	byte[] text() {
		return this.text;
	}

	/**
	 * The name under which Redis remembers the script.
	 */
	String digest() {
		return this.digest;
	}

}
