package io.github.holdfast;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Describes the current holder of a lock, for diagnostics.
 *
 * @param description who holds it and for how long
 * @param since when the store granted it, by the store's clock, or {@code null} if
 * unknown
 * @param expires when the lease ends unless it is renewed, by the store's clock, or
 * {@code null} if unknown
 * @param epoch the number of the grant, or {@code null} if unknown
 */
public record LockHolder(String description, @Nullable Instant since, @Nullable Instant expires, @Nullable Long epoch) {

	/**
	 * A holder of which only a description is known.
	 * @param description who holds the lock and for how long
	 * @return the holder
	 */
	public static LockHolder of(String description) {
		return new LockHolder(description, null, null, null);
	}

}
