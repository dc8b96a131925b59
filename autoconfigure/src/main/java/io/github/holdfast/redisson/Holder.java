package io.github.holdfast.redisson;

import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicLong;

import io.github.holdfast.LockRequest;

/**
 * Who holds or wants a lock: one acquisition, not a thread.
 *
 * @param request what is asked for
 * @param names the names of the lock
 * @param id what Redisson takes for the id of a thread
 * @param field how Redisson names the holder in the hash of the lock
 */
record Holder(LockRequest request, LockNames names, long id, String field) {

	/** Begins where the ids of threads, which other users of the client have, are not. */
	private static final AtomicLong IDS = new AtomicLong(new SecureRandom().nextLong());

	static Holder of(LockRequest request, String clientId) {
		long id = IDS.incrementAndGet();
		return new Holder(request, LockNames.of(request.key()), id, clientId + ":" + id);
	}

}
