package io.github.holdfast.redisson;

import java.nio.charset.StandardCharsets;
import java.util.UUID;
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

	private static final AtomicLong IDS = new AtomicLong();

	/**
	 * Two clients that were restored from one image have the same id, and count alike:
	 * only the owner is another one. The ids of threads, which other users of the client
	 * have, are small numbers.
	 */
	static Holder of(LockRequest request, String clientId) {
		UUID owner = UUID.nameUUIDFromBytes(request.owner().getBytes(StandardCharsets.UTF_8));
		long id = owner.getLeastSignificantBits() + IDS.incrementAndGet();
		return new Holder(request, LockNames.of(request.key()), id, clientId + ":" + id);
	}

}
