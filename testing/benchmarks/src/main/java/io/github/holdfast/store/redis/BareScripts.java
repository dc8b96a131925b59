package io.github.holdfast.store.redis;

/**
 * What Holdfast has Redis do with a lock, without Holdfast.
 */
public final class BareScripts {

	/** Takes two keys, lease time, retention, owner, holder and smallest epoch. */
	public static final String ACQUIRE = LockScript.ACQUIRE.text(2).lua();

	/** Takes two keys, owner and channel. */
	public static final String RELEASE = LockScript.RELEASE.text(2).lua();

	private BareScripts() {
	}

}
