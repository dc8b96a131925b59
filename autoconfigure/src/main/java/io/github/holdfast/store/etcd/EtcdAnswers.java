package io.github.holdfast.store.etcd;

import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

import io.etcd.jetcd.common.exception.EtcdException;
import io.grpc.Status;

import io.github.holdfast.LockBackendException;

/**
 * Waits for answers of etcd, and classifies failures.
 */
final class EtcdAnswers {

	/**
	 * How long to wait for an answer, whatever the wait time of a call is: another member
	 * may know more than one that does not answer.
	 */
	static final long TIMEOUT_SECONDS = 3;

	/** Of a member that restarts, or of a cluster that elects a leader. */
	private static final Set<Status.Code> TRANSIENT = Set.of(Status.Code.UNAVAILABLE, Status.Code.DEADLINE_EXCEEDED,
			Status.Code.CANCELLED);

	private EtcdAnswers() {
	}

	static <T> T await(CompletableFuture<T> answer) throws InterruptedException, ExecutionException, TimeoutException {
		return answer.get(TIMEOUT_SECONDS, TimeUnit.SECONDS);
	}

	/**
	 * Whether the same request may have an answer in a moment.
	 */
	static boolean isTransient(Throwable failure) {
		return cause(failure) instanceof TimeoutException || TRANSIENT.contains(code(failure));
	}

	/**
	 * Whether the lease has run out or was revoked.
	 */
	static boolean isLeaseGone(Throwable failure) {
		return code(failure) == Status.Code.NOT_FOUND;
	}

	private static Status.Code code(Throwable failure) {
		return (cause(failure) instanceof EtcdException ex) ? Status.Code.valueOf(ex.getErrorCode().name())
				: Status.fromThrowable(failure).getCode();
	}

	private static Throwable cause(Throwable failure) {
		boolean wrapped = failure instanceof ExecutionException || failure instanceof CompletionException;
		return (wrapped && failure.getCause() != null) ? cause(failure.getCause()) : failure;
	}

	static LockBackendException failure(String key, String what, Throwable failure) {
		String reason = (cause(failure) instanceof TimeoutException) ? "did not answer in time" : "failed";
		return new LockBackendException(key, "could not be " + what + ", etcd " + reason, cause(failure));
	}

}
