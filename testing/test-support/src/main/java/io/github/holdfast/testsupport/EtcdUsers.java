package io.github.holdfast.testsupport;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

import io.etcd.jetcd.Auth;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.auth.Permission;

/**
 * Users of an etcd that asks for a password.
 */
public final class EtcdUsers {

	/** Of all users. */
	public static final String PASSWORD = "secret";

	/** May read and write keys that begin with {@code /holdfast/}, and nothing else. */
	public static final String HOLDFAST = "holdfast";

	/** May read and write keys that begin with {@code /other/}. */
	public static final String OTHER = "other";

	private EtcdUsers() {
	}

	/**
	 * Creates the users and lets the server ask for them.
	 * @param server the server
	 */
	public static void create(EtcdServer server) {
		try (Client client = Client.builder().endpoints(server.endpoint()).build()) {
			Auth auth = client.getAuthClient();
			join(auth.roleAdd(bytes("root")));
			createUser(auth, "root", "root");
			for (String name : new String[] { HOLDFAST, OTHER }) {
				join(auth.roleAdd(bytes(name)));
				join(auth.roleGrantPermission(bytes(name), bytes("/" + name + "/"), bytes("/" + name + "0"),
						Permission.Type.READWRITE));
				createUser(auth, name, name);
			}
			join(auth.authEnable());
		}
	}

	private static void createUser(Auth auth, String name, String role) {
		join(auth.userAdd(bytes(name), bytes(PASSWORD)));
		join(auth.userGrantRole(bytes(name), bytes(role)));
	}

	private static void join(CompletableFuture<?> answer) {
		answer.join();
	}

	private static ByteSequence bytes(String text) {
		return ByteSequence.from(text, StandardCharsets.UTF_8);
	}

}
