package io.github.holdfast.autoconfigure;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;

/** A locked method that only classes of this package can override. */
public class HiddenLock {

	@DistributedLock(key = "'hidden'")
	boolean isLocked() {
		return LockContext.current().isPresent();
	}

}
