package io.github.holdfast.store.redis;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

import io.github.holdfast.store.Deadline;
import io.github.holdfast.store.Polling;

/**
 * How scripts and messages reach Redis.
 */
interface RedisDriver {

	/** Of waiters who are not woken. */
	Polling POLLING_ONLY = new Polling(Duration.ofMillis(5), Duration.ofMillis(100));

	/**
	 * Run a script, and again while Redis is not ready for it.
	 * @param script the script
	 * @param keys its keys, all in one slot
	 * @param args its arguments
	 * @param patience until when to ask again
	 * @return the answer, or why there is none. Once it is cancelled the script is not
	 * sent any more, but it may have been
	 */
	CompletableFuture<List<Object>> run(LockScript script, byte[][] keys, byte[][] args, Deadline patience);

	/**
	 * Run a script once.
	 */
	default CompletableFuture<List<Object>> run(LockScript script, byte[][] keys, byte[][] args) {
		return run(script, keys, args, Deadline.PASSED);
	}

	/**
	 * Listen to a channel until the signal is closed.
	 * @param channel the channel
	 * @return is raised for each message, and whenever one may have been missed
	 */
	Signal listen(String channel);

	/**
	 * Tell those who listen to a channel, behind what was sent before if Redis keeps the
	 * order.
	 * @return how many they are
	 */
	default CompletionStage<Long> publish(String channel) {
		return CompletableFuture.completedStage(0L);
	}

	/**
	 * How often to ask although there was no signal.
	 */
	Polling polling();

	/**
	 * Whether Redis knows all who wait for a lock: they listen, and on the same server.
	 */
	default boolean knowsListeners() {
		return false;
	}

	/**
	 * Whether anybody listens to a channel, or may do so.
	 */
	default CompletionStage<Boolean> isListenedTo(String channel) {
		return CompletableFuture.completedStage(true);
	}

	/**
	 * How long a waiter may take to notice a release.
	 */
	default Duration noticeTime() {
		return polling().longest();
	}

	/**
	 * The slot that a key lives in: 0 for all keys if there is one server. Keys in
	 * different slots may live on different servers.
	 */
	default int slot(String key) {
		return 0;
	}

	/**
	 * Whether Redis carries requests out in the order in which they are sent. If not,
	 * nothing may be taken back before the answer to the request for it is there.
	 */
	default boolean keepsOrder() {
		return true;
	}

	/**
	 * Which Redis this is, for messages.
	 */
	default String server() {
		return "Redis";
	}

	/**
	 * What a channel is called in Redis.
	 */
	default String nameOf(String channel) {
		return channel;
	}

}
