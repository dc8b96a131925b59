package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.List;

import io.github.holdfast.store.Digest;

/**
 * The operations on one lock, each of which is a single step in Redis.
 *
 * <p>
 * A lock that is held exclusively has the layout of Redisson's {@code RLock}: a hash with
 * the owner as a field, here with {@code mode}, {@code epoch} and {@code holder} beside
 * it. While the key exists, other clients wait. A release publishes {@code 0} on
 * Redisson's channel. A shared lock has the mode {@code shared} and no owner; its owners
 * are in a sorted set, each with the time at which its lease ends. The last epoch and its
 * owner outlive the lock.
 *
 * <p>
 * Clients repeat a script if the connection was lost before the answer, so each script
 * gives the same answer when it runs twice. A release that is repeated after another
 * holder came looks like a loss.
 *
 * <p>
 * A single number is returned without an array, which takes Redis 6 much less time. Parts
 * that several scripts share are text, because Redis would create a function at each
 * call.
 */
enum LockScript {

	/**
	 * Acquires the lock. Arguments: owner, lease time and retention of the epoch in
	 * milliseconds, holder, {@code write} or {@code shared}, and for a fair request the
	 * milliseconds for which it keeps a place in the queue. Returns the epoch, or 0, the
	 * milliseconds until a wait may end by itself, whether the lock is shared, and the
	 * last epoch and its owner.
	 */
	ACQUIRE(Lua.TIME + """
			local owner, mode, ticket = ARGV[1], ARGV[5], tonumber(ARGV[6])
			local held = redis.call('exists', KEYS[1]) == 1 and redis.call('hmget', KEYS[1], owner, 'mode', 'epoch')
			if held and held[1] then
				redis.call('pexpire', KEYS[1], ARGV[2])
				return tonumber(held[3])
			end
			local shared = held and held[2] == 'shared'
			""" + Lua.SHARES + """
			local last = redis.call('get', KEYS[2]) or '0'
			local number, last_owner = string.match(last, '^(%d+) ?(.*)$')
			if not mine and last_owner == owner then return {0, -1, 0, last} end
			local first
			if ticket or mode == 'shared' then
				for _, gone in ipairs(redis.call('zrangebyscore', KEYS[4], '-inf', now)) do
					redis.call('zrem', KEYS[3], gone)
					redis.call('zrem', KEYS[4], gone)
				end
				first = redis.call('zrange', KEYS[3], 0, 0)[1]
			end
			local busy = held and not (shared and mode == 'shared')
			if not mine and (busy or (first and first ~= owner)) then
				local wait = redis.call('pttl', KEYS[1])
				if not busy then wait = math.ceil(((redis.call('zscore', KEYS[4], first) or now) - now) / 1000) end
				if ticket then
					local latest = redis.call('zrevrange', KEYS[3], 0, 0, 'withscores')[2]
					redis.call('zadd', KEYS[3], 'nx', math.max((latest or 0) + 1, now), owner)
					redis.call('zadd', KEYS[4], now + ticket * 1000, owner)
					redis.call('pexpire', KEYS[3], ticket)
					redis.call('pexpire', KEYS[4], ticket)
				end
				return {0, wait, shared and 1 or 0, last}
			end
			if first == owner then
				redis.call('zrem', KEYS[3], owner)
				redis.call('zrem', KEYS[4], owner)
			end
			local epoch = math.max(number + 1, now)
			local text = string.format('%.0f', epoch)
			redis.call('set', KEYS[2], text .. ' ' .. owner, 'px', ARGV[3])
			if mode == 'shared' then
				if not held then redis.call('del', KEYS[5]) end
				redis.call('zadd', KEYS[5], now + ARGV[2] * 1000, owner)
				redis.call('hset', KEYS[1], 'mode', mode, 'epoch', text, 'holder', 'several, last ' .. ARGV[4])
			""" + Lua.EXPIRE + """
				if first == owner then
			""" + Lua.TELL + """
				end
			else
				redis.call('hset', KEYS[1], owner, '1', 'mode', mode, 'epoch', text, 'holder', ARGV[4])
				redis.call('pexpire', KEYS[1], ARGV[2])
			end
			return epoch
			"""),

	/**
	 * Extends a lease. Arguments: owner, lease time, retention of the epoch, and the
	 * epoch of an exclusive lock. Returns 1, or 0 if the lock is not the owner's. The
	 * lease comes first: a full Redis refuses the other commands until one has written.
	 */
	RENEW("""
			local owner = ARGV[1]
			local held = redis.call('hmget', KEYS[1], owner, 'mode')
			if held[1] then
				redis.call('pexpire', KEYS[1], ARGV[2])
				redis.call('hset', KEYS[1], 'epoch', ARGV[4])
				redis.call('set', KEYS[2], ARGV[4] .. ' ' .. owner, 'px', ARGV[3])
				return 1
			end
			local shared = held[2] == 'shared'
			""" + Lua.TIME + Lua.SHARES + """
			if not mine then return 0 end
			redis.call('zadd', KEYS[5], now + ARGV[2] * 1000, owner)
			redis.call('pexpire', KEYS[2], ARGV[3])
			""" + Lua.EXPIRE + "return 1"),

	/**
	 * Releases the lock. Argument: owner. Returns 1, or 0 if the lock was not the
	 * owner's. A lock that is free counts as released if its last owner was this one.
	 */
	RELEASE(Lua.RELEASE),

	/**
	 * Ends an acquisition without a lease: removes the owner from the queue and from the
	 * lock. Argument: owner.
	 */
	LEAVE("""
			redis.call('zrem', KEYS[4], ARGV[1])
			if redis.call('zrem', KEYS[3], ARGV[1]) == 1 then
			""" + Lua.TELL + "end\n" + Lua.RELEASE),

	/**
	 * Takes the lock away from any holder. Argument: retention of the epoch in
	 * milliseconds. Returns whether there was a holder.
	 */
	FORCE("""
			local held = redis.call('del', KEYS[1])
			redis.call('del', KEYS[5])
			redis.call('set', KEYS[2], string.match(redis.call('get', KEYS[2]) or '0', '^%d+'), 'px', ARGV[1])
			""" + Lua.TELL + "return held"),

	/**
	 * Returns the holder, the epoch, the milliseconds until the lease ends, and the time
	 * in milliseconds. A lock of Redisson has the epoch 0, and the fields of its hash as
	 * the holder.
	 */
	HOLDER(Lua.TIME + """
			local fields = redis.call('hkeys', KEYS[1])
			if not fields[1] then return {false} end
			local held = redis.call('hmget', KEYS[1], 'holder', 'epoch')
			local text = held[1] or 'Redisson, ' .. table.concat(fields, ' ')
			return {text, tonumber(held[2] or 0), redis.call('pttl', KEYS[1]), math.floor(now / 1000)}
			"""),

	/**
	 * Returns the time in microseconds. The key only leads to a server.
	 */
	PING(Lua.TIME + "return now");

	private final String lua;

	private final String digest;

	LockScript(String lua) {
		this.lua = lua;
		this.digest = Digest.SHA_1.hex(lua.getBytes(StandardCharsets.UTF_8));
	}

	String lua() {
		return this.lua;
	}

	/**
	 * The name under which Redis remembers the script.
	 */
	String digest() {
		return this.digest;
	}

	/**
	 * Parts of several scripts.
	 */
	private static final class Lua {

		static final String TIME = "local time = redis.call('time')\nlocal now = time[1] * 1000000 + time[2]\n";

		/** Reads {@code shared}, {@code now} and {@code owner}. */
		static final String SHARES = """
				local mine = shared and redis.call('zremrangebyscore', KEYS[5], '-inf', now)
					and redis.call('zscore', KEYS[5], owner)
				""";

		/** A shared lock ends with the last lease. Sets {@code rest} to its time. */
		static final String EXPIRE = """
				local final = redis.call('zrevrange', KEYS[5], 0, 0, 'withscores')[2]
				local rest = math.ceil(((final or 0) - now) / 1000)
				if rest > 0 then
					redis.call('pexpire', KEYS[1], rest)
					redis.call('pexpire', KEYS[5], rest)
				else
					redis.call('del', KEYS[1], KEYS[5])
				end
				""";

		/**
		 * Wakes all waiters that are not fair, and the first fair one. Usually there is
		 * no queue, and {@code EXISTS} finds that out in less time.
		 */
		static final String TELL = """
				redis.call('publish', KEYS[6], '0')
				local first = redis.call('exists', KEYS[3]) == 1 and redis.call('zrange', KEYS[3], 0, 0)[1]
				if first then redis.call('publish', KEYS[6] .. ':' .. first, '0') end
				""";

		/** An exclusive lock comes first and needs no time. */
		static final String RELEASE = """
				local owner = ARGV[1]
				local held = redis.call('hmget', KEYS[1], owner, 'mode')
				if held[1] then
					redis.call('del', KEYS[1])
				else
					local shared = held[2] == 'shared'
				""" + TIME + SHARES + """
					if not mine then
						local last = redis.call('get', KEYS[2])
						local again = last and string.match(last, ' (.+)$') == owner
						return again and redis.call('exists', KEYS[1]) == 0 and 1 or 0
					end
					redis.call('zrem', KEYS[5], owner)
				""" + EXPIRE + """
					if rest > 0 then return 1 end
				end
				""" + TELL + "return 1";

	}

	/**
	 * The names that belong to one lock. They follow the rules of Redisson, so that an
	 * {@code RLock} of the same name is the same lock, and share one slot of a Cluster.
	 *
	 * @param names the lock itself, its last epoch, the queue of fair waiters, the times
	 * until which they keep their places, the times until which the lock is shared, and
	 * the channel of its releases
	 */
	record LockKey(List<String> names) {

		/** Longer keys are stored as their digest. */
		private static final int MAX_LENGTH = 512;

		/**
		 * Return the names of a lock. The lock is stored under the key itself, unless the
		 * key is long, or has braces that would separate the names in a Cluster.
		 */
		static LockKey of(String key) {
			String lock = (key.length() < MAX_LENGTH && isOneSlot(key)) ? key
					: "holdfast:{" + Digest.SHA_256.hex(key.getBytes(StandardCharsets.UTF_8)) + "}";
			// The rule of RedissonObject.prefixName
			String suffix = lock.contains("{") ? ":" + lock : ":{" + lock + "}";
			return new LockKey(List.of(lock, "holdfast_epoch" + suffix, "holdfast_queue" + suffix,
					"holdfast_tickets" + suffix, "holdfast_sharers" + suffix, "redisson_lock__channel" + suffix));
		}

		private static boolean isOneSlot(String key) {
			int open = key.indexOf('{');
			int close = key.indexOf('}', Math.max(open, 0));
			return (open < 0) ? close < 0 : close > open + 1;
		}

		String channel() {
			return this.names.get(this.names.size() - 1);
		}

	}

}
