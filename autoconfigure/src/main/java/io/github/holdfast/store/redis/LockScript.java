package io.github.holdfast.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import io.github.holdfast.store.Digest;

/**
 * What Redis does with locks, each in one step. A held lock is a hash with {@code owner},
 * {@code epoch} and {@code holder} that expires with the lease. A counter is a hash with
 * the {@code epoch} and the {@code owner} of the last grant that expires long after it.
 *
 * <p>
 * Of a lock that is held shared, the owner is {@link #SHARED}, so that it is in the way
 * of everybody who wants it alone, and the key lives as long as the last one who shares
 * it. Until when each of them does is in a sorted set, which means nothing without that
 * owner.
 *
 * <p>
 * Clients send a script again when its answer was lost with the connection, so each may
 * run twice for one request.
 */
enum LockScript {

	/**
	 * Takes all locks or none. Answers with their epochs, or with 0, the milliseconds
	 * after which the lease of another holder ends, and its owner. What the owner has
	 * already is kept, and its epoch raised to the smallest one that it asks for.
	 */
	ACQUIRE(Acquisition.of(1)) {

		private final Map<Integer, Text> texts = new ConcurrentHashMap<>();

		@Override
		Text text(int keys) {
			return (keys == 2) ? super.text(keys) : this.texts.computeIfAbsent(Acquisition.size(keys / 2),
					(locks) -> new Text(Acquisition.of(locks)));
		}

	},

	/**
	 * Takes one lock as soon as nobody has waited for it longer. Who does not get it
	 * takes a place in the queue, or keeps it for another while; the answer is as above
	 * then.
	 */
	ACQUIRE_IN_TURN(Turn.LOOK + """
			if holding ~= owner and (holding or (first and first ~= owner)) then
			""" + Turn.WAIT + Acquisition.of(1)),

	/**
	 * Shares one lock, unless somebody waits for it in the queue. A fair request takes a
	 * place there, too. Answers as above. What is sent again is granted again.
	 */
	ACQUIRE_SHARED(Turn.LOOK + Sharing.LOOK + """
			local sharing = holding == 'shared' and redis.call('zscore', KEYS[5], owner)
			if not sharing and ((holding and holding ~= 'shared') or (first and first ~= owner)) then
				if not ARGV[6] then
					return {0, redis.call('pttl', KEYS[1]), holding or first}
				end
			""" + Turn.WAIT + """
			if not holding then
				redis.call('del', KEYS[5])
			end
			local before = tonumber(redis.call('hget', KEYS[2], 'epoch') or 0)
			local epoch = math.max(before + 1, now, tonumber(ARGV[5]))
			local text = string.format('%.0f', epoch)
			redis.call('hset', KEYS[1], 'owner', 'shared', 'epoch', text, 'holder', 'several, at last ' .. ARGV[4])
			redis.call('hset', KEYS[2], 'epoch', text, 'owner', owner)
			redis.call('pexpire', KEYS[2], ARGV[2])
			redis.call('zadd', KEYS[5], now + ARGV[1] * 1000, owner)
			""" + Sharing.EXPIRE + """
			return {epoch}
			"""),

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
	 * Gives up a place in the queue, and leaves it to the client to tell.
	 */
	LEAVE_UNTOLD(LEAVE),

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
	 * Extends a shared lease as {@link #RENEW} does.
	 */
	RENEW_SHARED(Sharing.LOOK + """
			if holding ~= 'shared' or not redis.call('zscore', KEYS[5], ARGV[1]) then
				return {0}
			end
			redis.call('zadd', KEYS[5], now + ARGV[2] * 1000, ARGV[1])
			redis.call('pexpire', KEYS[2], ARGV[3])
			""" + Sharing.EXPIRE + """
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
	 * Gives a lock back as {@link #RELEASE} does, and leaves it to the client to tell.
	 */
	RELEASE_UNTOLD(RELEASE),

	/**
	 * Stops to share a lock. The last one tells those who wait. Answers as
	 * {@link #RELEASE} does.
	 */
	RELEASE_SHARED(Sharing.LOOK + """
			if holding == 'shared' and redis.call('zrem', KEYS[5], ARGV[1]) == 1 then
				if redis.call('zrange', KEYS[5], 0, 0)[1] then
			""" + Sharing.EXPIRE + """
					return {1}
				end
				redis.call('del', KEYS[1])
				return {1, redis.call('publish', ARGV[2], '1')}
			end
			if not holding and redis.call('hget', KEYS[2], 'owner') == ARGV[1] then
				return {1}
			end
			return {0}
			"""),

	/**
	 * Stops to share a lock, and leaves it to the client to tell.
	 */
	RELEASE_SHARED_UNTOLD(RELEASE_SHARED),

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

	/** The owner of a lock that is held shared. */
	static final String SHARED = "shared";

	private static final String PUBLISH = "redis.call('publish', ARGV[2], '1')";

	private final Text text;

	LockScript(String lua) {
		this.text = new Text(lua);
	}

	LockScript(LockScript told) {
		this(told.text.lua.replace(PUBLISH, ""));
	}

	/**
	 * The same script without its message.
	 */
	LockScript untold() {
		return valueOf(name() + "_UNTOLD");
	}

	/**
	 * The script for a number of keys.
	 */
	Text text(int keys) {
		return this.text;
	}

	/**
	 * What is sent.
	 *
	 * @param lua the script
	 * @param bytes the same
	 * @param digest the name under which Redis remembers it
	 */
	record Text(String lua, byte[] bytes, String digest) {

		private Text(String lua) {
			this(lua, lua.getBytes(StandardCharsets.UTF_8));
		}

		private Text(String lua, byte[] bytes) {
			this(lua, bytes, Digest.SHA_1.hex(bytes));
		}

	}

	/**
	 * What is done in the queue of those who wait in turn.
	 */
	private static final class Turn {

		private static final String LOOK = """
				local owner = ARGV[3]
				local clock = redis.call('time')
				local arrival = clock[1] * 1000000 + clock[2]
				for _, gone in ipairs(redis.call('zrangebyscore', KEYS[4], '-inf', arrival)) do
					redis.call('zrem', KEYS[3], gone)
					redis.call('zrem', KEYS[4], gone)
				end
				local first = redis.call('zrange', KEYS[3], 0, 0)[1]
				local holding = redis.call('hget', KEYS[1], 'owner')
				""";

		private static final String WAIT = """
					if not redis.call('zscore', KEYS[3], owner) then
						local latest = redis.call('zrevrange', KEYS[3], 0, 0, 'withscores')
						redis.call('zadd', KEYS[3], math.max((latest[2] or 0) + 1, arrival), owner)
					end
					redis.call('zadd', KEYS[4], arrival + ARGV[6] * 1000, owner)
					redis.call('pexpire', KEYS[3], ARGV[6])
					redis.call('pexpire', KEYS[4], ARGV[6])
					return {0, redis.call('pttl', KEYS[1]), holding or first}
				end
				redis.call('zrem', KEYS[3], owner)
				redis.call('zrem', KEYS[4], owner)
				""";

	}

	/**
	 * What is done with those who share a lock.
	 */
	private static final class Sharing {

		private static final String LOOK = """
				local time = redis.call('time')
				local now = time[1] * 1000000 + time[2]
				for _, gone in ipairs(redis.call('zrangebyscore', KEYS[5], '-inf', now)) do
					redis.call('zrem', KEYS[5], gone)
				end
				local holding = redis.call('hget', KEYS[1], 'owner')
				""";

		/** Rounds up, so that the lock does not end before the last lease. */
		private static final String EXPIRE = """
				local last = redis.call('zrevrange', KEYS[5], 0, 0, 'withscores')
				local rest = math.ceil((last[2] - now) / 1000)
				redis.call('pexpire', KEYS[1], rest)
				redis.call('pexpire', KEYS[5], rest)
				""";

	}

	/**
	 * Writes the script for a number of locks. Some services refuse a script whose keys
	 * are computed, so each of them is spelled out.
	 */
	private static final class Acquisition {

		/** Above, one script is for several numbers, as Redis keeps each. */
		private static final int EXACT = 8;

		private static final String LOOK = """
				if ARGV[owner] then
					local held = redis.call('hmget', KEYS[lock], 'owner', 'epoch')
					if held[1] == ARGV[owner] then
						grants[n] = tonumber(held[2])
					elseif held[1] then
						return {0, redis.call('pttl', KEYS[lock]), held[1]}
					end
				end
				""";

		private static final String TIME = """
				local time = redis.call('time')
				local now = time[1] * 1000000 + time[2]
				""";

		private static final String TAKE = """
				if ARGV[owner] then
					local epoch, minimum = grants[n], tonumber(ARGV[minimum])
					if not epoch or epoch < minimum then
						local before = tonumber(redis.call('hget', KEYS[counter], 'epoch') or 0)
						epoch = epoch and minimum or math.max(before + 1, now, minimum)
						local text = string.format('%.0f', epoch)
						redis.call('hset', KEYS[lock], 'owner', ARGV[owner], 'epoch', text, 'holder', ARGV[holder])
						redis.call('pexpire', KEYS[lock], ARGV[1])
						redis.call('hset', KEYS[counter], 'epoch', text, 'owner', ARGV[owner])
						redis.call('pexpire', KEYS[counter], ARGV[2])
						grants[n] = epoch
					else
						redis.call('pexpire', KEYS[lock], ARGV[1])
					end
				end
				""";

		/**
		 * For how many locks the script is that takes so many.
		 */
		static int size(int locks) {
			return (locks <= EXACT) ? locks : 2 * Integer.highestOneBit(locks - 1);
		}

		static String of(int locks) {
			return "local grants = {}\n" + each(LOOK, locks) + TIME + each(TAKE, locks) + "return grants\n";
		}

		private static String each(String lua, int locks) {
			return IntStream.range(0, locks).mapToObj((n) -> numbered(lua, n)).collect(Collectors.joining());
		}

		private static String numbered(String lua, int n) {
			return lua.replace("KEYS[lock]", "KEYS[" + (2 * n + 1) + "]")
				.replace("KEYS[counter]", "KEYS[" + (2 * n + 2) + "]")
				.replace("ARGV[owner]", "ARGV[" + (3 * n + 3) + "]")
				.replace("ARGV[holder]", "ARGV[" + (3 * n + 4) + "]")
				.replace("ARGV[minimum]", "ARGV[" + (3 * n + 5) + "]")
				.replace("grants[n]", "grants[" + (n + 1) + "]");
		}

	}

}
