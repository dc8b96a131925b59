package io.github.holdfast.support;

import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * The digests that every Java platform has.
 *
 * @since 0.2.0
 */
public enum Digest {

	/** By which Redis names scripts. */
	SHA_1("SHA-1"),

	/** For ids that stand for longer keys. */
	SHA_256("SHA-256");

	private final String algorithm;

	Digest(String algorithm) {
		this.algorithm = algorithm;
	}

	/**
	 * The digest of some bytes.
	 * @param bytes the bytes
	 * @return the digest
	 */
	public byte[] of(byte[] bytes) {
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
