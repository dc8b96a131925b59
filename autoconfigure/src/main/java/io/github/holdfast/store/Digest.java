package io.github.holdfast.store;

import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The digests that every Java platform has.
 */
public enum Digest {

	/** By which Redis names scripts. */
	SHA_1("SHA-1"),

	/** For ids that stand for longer keys. */
	SHA_256("SHA-256");

	private static final int KEY_BYTES = 8;

	private final String algorithm;

	Digest(String algorithm) {
		this.algorithm = algorithm;
	}

	/**
	 * What stands for a key where the key itself is not kept or shown.
	 * @param key the key
	 * @return the first 64 bits of its SHA-256, in hexadecimal digits
	 */
	public static String ofKey(String key) {
		byte[] digest = SHA_256.of(key.getBytes(StandardCharsets.UTF_8));
		return HexFormat.of().formatHex(digest, 0, KEY_BYTES);
	}

	private byte[] of(byte[] bytes) {
		try {
			return MessageDigest.getInstance(this.algorithm).digest(bytes);
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Every Java platform has " + this.algorithm, ex);
		}
	}

	/**
	 * The digest of some bytes as a text.
	 * @param bytes the bytes
	 * @return the digest in hexadecimal digits, in lower case
	 */
	public String hex(byte[] bytes) {
		return HexFormat.of().formatHex(of(bytes));
	}

}
