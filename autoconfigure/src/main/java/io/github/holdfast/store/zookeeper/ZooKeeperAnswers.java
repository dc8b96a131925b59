package io.github.holdfast.store.zookeeper;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import org.apache.zookeeper.KeeperException;

import io.github.holdfast.LockBackendException;
import io.github.holdfast.store.Answers;
import io.github.holdfast.store.Deadline;

/**
 * Waits for answers of ZooKeeper.
 */
final class ZooKeeperAnswers {

	/** How long an answer is waited for at least, whatever the wait time of a call is. */
	static final Duration MIN_TIMEOUT = Duration.ofSeconds(2);

	private ZooKeeperAnswers() {
	}

	static <T> T await(CompletableFuture<T> answer, Deadline deadline) throws KeeperException, InterruptedException {
		try {
			return answer.get(atLeastMinimum(deadline.remaining()).toNanos(), TimeUnit.NANOSECONDS);
		}
		catch (ExecutionException ex) {
			throw keeperException(ex);
		}
		catch (TimeoutException ex) {
			throw new KeeperException.OperationTimeoutException();
		}
	}

	/**
	 * An interrupt does not end the wait and is kept for later.
	 */
	static <T> T awaitUninterruptibly(CompletableFuture<T> answer, Deadline deadline) throws KeeperException {
		try {
			return Answers.awaitUninterruptibly(answer, atLeastMinimum(deadline.remaining()));
		}
		catch (ExecutionException ex) {
			throw keeperException(ex);
		}
		catch (TimeoutException ex) {
			throw new KeeperException.OperationTimeoutException();
		}
	}

	static Duration renewalTimeout(Duration leaseTime) {
		return Answers.renewalTimeout(leaseTime, MIN_TIMEOUT);
	}

	static Duration atLeastMinimum(Duration timeout) {
		return (timeout.compareTo(MIN_TIMEOUT) > 0) ? timeout : MIN_TIMEOUT;
	}

	static KeeperException keeperException(Throwable failure) {
		Throwable cause = Answers.cause(failure);
		if (cause instanceof KeeperException ex) {
			return ex;
		}
		KeeperException wrapped = (cause instanceof TimeoutException) ? new KeeperException.OperationTimeoutException()
				: new KeeperException.SystemErrorException();
		wrapped.initCause(cause);
		return wrapped;
	}

	/**
	 * Whether nobody knows if the request was carried out.
	 */
	static boolean isUnknown(KeeperException failure) {
		return switch (failure.code()) {
			case CONNECTIONLOSS, OPERATIONTIMEOUT, REQUESTTIMEOUT -> true;
			default -> false;
		};
	}

	static LockBackendException failure(String key, String what, KeeperException cause) {
		String reason = switch (cause.code()) {
			case CONNECTIONLOSS -> "the connection to ZooKeeper was lost";
			case OPERATIONTIMEOUT, REQUESTTIMEOUT -> "ZooKeeper did not answer in time";
			case SESSIONEXPIRED -> "the session of ZooKeeper has expired";
			case NOAUTH, AUTHFAILED, INVALIDACL -> "ZooKeeper refused access";
			default -> "ZooKeeper failed";
		};
		return new LockBackendException(key, "could not be " + what + ", " + reason, cause);
	}

}
