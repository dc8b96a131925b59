package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.api.BackgroundCallback;
import org.apache.curator.framework.api.CuratorEvent;
import org.apache.zookeeper.KeeperException;

import org.springframework.core.NestedExceptionUtils;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Polling.Deadline;

/**
 * Sends requests in Curator's background, so that no wait for an answer is endless.
 */
final class ZooKeeperAnswers {

	/** The shortest time to wait for an answer, whatever the wait time of a call is. */
	static final Duration SHORTEST_WAIT = Duration.ofSeconds(2);

	private ZooKeeperAnswers() {
	}

	/**
	 * Sends a request.
	 * @return the answer, or a {@link KeeperException}
	 */
	static CompletableFuture<CuratorEvent> send(Request request) {
		CompletableFuture<CuratorEvent> answer = new CompletableFuture<>();
		try {
			request.send((curator, event) -> {
				KeeperException.Code code = KeeperException.Code.get(event.getResultCode());
				if (code == KeeperException.Code.OK) {
					answer.complete(event);
				}
				else {
					answer.completeExceptionally(KeeperException.create(code, event.getPath()));
				}
			});
		}
		catch (Exception ex) {
			answer.completeExceptionally(ex);
		}
		return answer;
	}

	/**
	 * Asks a majority of the servers whether a node exists.
	 */
	static void check(CuratorFramework curator, String path, BackgroundCallback callback) throws Exception {
		curator.transaction().inBackground(callback).forOperations(curator.transactionOp().check().forPath(path));
	}

	/**
	 * Deletes a node. Curator tries again if the connection is lost.
	 */
	static CompletableFuture<CuratorEvent> delete(CuratorFramework curator, String path) {
		return send((callback) -> curator.delete().guaranteed().inBackground(callback).forPath(path));
	}

	static <T> T await(CompletableFuture<T> answer, Deadline deadline) throws KeeperException, InterruptedException {
		long nanos = Math.max(deadline.remainingNanos(), SHORTEST_WAIT.toNanos());
		try {
			return answer.get(nanos, TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException | TimeoutException ex) {
			throw keeperException(ex);
		}
	}

	static boolean isNoNode(Throwable failure) {
		return keeperException(failure) instanceof KeeperException.NoNodeException;
	}

	static KeeperException keeperException(Throwable failure) {
		Throwable cause = NestedExceptionUtils.getMostSpecificCause(failure);
		if (cause instanceof KeeperException ex) {
			return ex;
		}
		KeeperException wrapped = (cause instanceof TimeoutException) ? new KeeperException.OperationTimeoutException()
				: new KeeperException.SystemErrorException();
		wrapped.initCause(cause);
		return wrapped;
	}

	static LockBackendException failure(String key, String what, Throwable failure) {
		KeeperException cause = keeperException(failure);
		String reason = (cause.code() == KeeperException.Code.OPERATIONTIMEOUT) ? "did not answer in time" : "failed";
		return new LockBackendException(key, "could not be " + what + ", ZooKeeper " + reason, cause);
	}

	/**
	 * Sends one request.
	 */
	@FunctionalInterface
	interface Request {

		void send(BackgroundCallback callback) throws Exception;

	}

}
