package io.github.holdfast.store.etcd;

import java.nio.charset.StandardCharsets;

import io.etcd.jetcd.ByteSequence;

import io.github.holdfast.LockRequest;
import io.github.holdfast.store.LockKeys;

/**
 * A place in the queue of a lock.
 *
 * @param key the key of this owner
 * @param holder the value of the key, a text for people
 * @param queue what the keys begin with of those that this one has to wait for, if they
 * were put before
 */
record Entry(ByteSequence key, ByteSequence holder, ByteSequence queue) {

	/** The longest segment, before slashes are escaped. */
	private static final int MAX_BYTES = 512;

	static Entry of(String namespace, LockRequest request) {
		ByteSequence lock = lock(namespace, request.key());
		ByteSequence exclusive = lock.concat(bytes("exclusive/"));
		boolean shared = request.mode() == LockRequest.Mode.SHARED;
		ByteSequence own = (shared ? lock.concat(bytes("shared/")) : exclusive).concat(bytes(request.owner()));
		return new Entry(own, bytes(request.holder()), shared ? exclusive : lock);
	}

	/**
	 * What all keys of a lock begin with, and no key of any other: the id of the lock is
	 * one segment of the path.
	 */
	static ByteSequence lock(String namespace, String key) {
		String segment = LockKeys.id(key, MAX_BYTES).replace("/", "%2f");
		return bytes(namespace + "locks/" + segment + "/");
	}

	static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

}
