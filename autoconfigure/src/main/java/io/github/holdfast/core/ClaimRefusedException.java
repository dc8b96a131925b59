package io.github.holdfast.core;

/**
 * Thrown out of a transaction in which nothing has been done, as it cannot claim its
 * locks. The call acquires them again, and the body then runs under locks that were
 * written into the fence table before.
 */
public final class ClaimRefusedException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	private final transient HeldLock lock;

	private final boolean lasting;

	private ClaimRefusedException(HeldLock lock, boolean lasting, String reason) {
		super("The locks " + lock.keys() + " are not claimed: " + reason, null, false, false);
		this.lock = lock;
		this.lasting = lasting;
	}

	/**
	 * A refusal of this call, as the rows could not be written.
	 * @param lock the lock
	 * @param reason why
	 * @return the exception
	 */
	public static ClaimRefusedException thisTime(HeldLock lock, String reason) {
		return new ClaimRefusedException(lock, false, reason);
	}

	/**
	 * A refusal that is expected to meet the next calls, too.
	 * @param lock the lock
	 * @param reason why
	 * @return the exception
	 */
	public static ClaimRefusedException always(HeldLock lock, String reason) {
		return new ClaimRefusedException(lock, true, reason);
	}

	boolean isOf(HeldLock lock) {
		return this.lock == lock;
	}

	boolean isLasting() {
		return this.lasting;
	}

}
