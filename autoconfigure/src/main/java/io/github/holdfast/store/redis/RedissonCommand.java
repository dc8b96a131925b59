package io.github.holdfast.store.redis;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import org.jspecify.annotations.Nullable;
import org.redisson.client.codec.ByteArrayCodec;
import org.redisson.client.protocol.BatchCommandData;
import org.redisson.client.protocol.RedisCommand;
import org.redisson.client.protocol.RedisCommands;

/**
 * A script, by its digest, in a batch of Redisson. As Redisson may send it again until
 * the batch is over, it does not fail before.
 */
final class RedissonCommand extends BatchCommandData<List<Object>, List<Object>> {

	private static final RedisCommand<List<Object>> BY_DIGEST = new RedisCommand<>(RedisCommands.EVAL_LIST, "EVALSHA");

	private final String key;

	private volatile @Nullable Throwable failure;

	RedissonCommand(LockScript script, List<Object> keys, byte[][] args) {
		super(new CompletableFuture<>(), ByteArrayCodec.INSTANCE, BY_DIGEST, params(script, keys, args), 0);
		this.key = keys.get(0).toString();
	}

	private static Object[] params(LockScript script, List<Object> keys, byte[][] args) {
		List<Object> params = new ArrayList<>(2 + keys.size() + args.length);
		params.add(script.text(keys.size()).digest());
		params.add(keys.size());
		params.addAll(keys);
		Collections.addAll(params, args);
		return params.toArray();
	}

	String key() {
		return this.key;
	}

	@Override
	public boolean tryFailure(Throwable cause) {
		this.failure = cause;
		return true;
	}

	@Override
	public boolean isSuccess() {
		return this.failure == null && super.isSuccess();
	}

	@Override
	public @Nullable Throwable cause() {
		return this.failure;
	}

	@Override
	public void clearError() {
		this.failure = null;
	}

	/**
	 * Fail now, unless there was an answer.
	 * @param batchFailure why the whole batch has failed, if it has
	 */
	void end(@Nullable Throwable batchFailure) {
		Throwable failure = (this.failure != null) ? this.failure : batchFailure;
		if (failure != null) {
			getPromise().completeExceptionally(failure);
		}
	}

}
