package io.seata.core.context;

/** Stands for the class of Seata. */
public final class RootContext {

	private static final ThreadLocal<String> XID = new ThreadLocal<>();

	private RootContext() {
	}

	public static void bind(String xid) {
		XID.set(xid);
	}

	public static void unbind() {
		XID.remove();
	}

	public static String getXID() {
		return XID.get();
	}

}
