package io.github.holdfast.redis;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

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
			local grants = {}
			for n = 0, #KEYS / 2 - 1 do
				local held = redis.call('hmget', KEYS[2 * n + 1], 'owner', 'epoch')
				if held[1] == ARGV[3 * n + 3] then
					grants[n + 1] = tonumber(held[2])
				elseif held[1] then
					return {0, redis.call('pttl', KEYS[2 * n + 1]), held[1]}
				end
			end
			local time = redis.call('time')
			local now = time[1] * 1000000 + time[2]
			for n = 0, #KEYS / 2 - 1 do
				local epoch, minimum = grants[n + 1], tonumber(ARGV[3 * n + 5])
				if not epoch or epoch < minimum then
					local lock, counter = KEYS[2 * n + 1], KEYS[2 * n + 2]
					local owner, holder = ARGV[3 * n + 3], ARGV[3 * n + 4]
					local last = tonumber(redis.call('hget', counter, 'epoch') or 0)
					epoch = epoch and minimum or math.max(last + 1, now, minimum)
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
	 * Answers with the holder, if any, and the milliseconds after which its lease ends.
	 */
	HOLDER("""
			return {redis.call('hget', KEYS[1], 'holder'), redis.call('pttl', KEYS[1])}
			""");

	private final byte[] text;

	private final String digest;

	LockScript(String text) {
		this.text = text.getBytes(StandardCharsets.UTF_8);
		this.digest = sha1(this.text);
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

	private static String sha1(byte[] text) {
		try {
			return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-1").digest(text));
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has SHA-1", ex);
		}
	}

}
