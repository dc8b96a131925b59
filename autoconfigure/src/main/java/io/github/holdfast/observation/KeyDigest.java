package io.github.holdfast.observation;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * A number that stands for a key: the first 64 bits of its SHA-256.
 */
final class KeyDigest {

	private KeyDigest() {
	}

	static String of(String key) {
		return HexFormat.of().toHexDigits(asLong(key));
	}

	static long asLong(String key) {
		try {
			byte[] digest = MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
			return ByteBuffer.wrap(digest).getLong();
		}
		catch (NoSuchAlgorithmException ex) {
			throw new IllegalStateException("Each Java platform has SHA-256", ex);
		}
	}

}
