package io.github.holdfast;

import java.time.Instant;

import org.jspecify.annotations.Nullable;

/**
 * Who holds a lock, as far as the store tells.
 *
 * @param owner the owner of the acquisition, or {@code null} if the store does not tell
 * @param text who that is and for how long, for people
 * @param since when the lock was granted by the clock of the store, or {@code null} if
 * the store does not tell
 * @param expires when the lease runs out by the clock of the store unless it is renewed,
 * or {@code null} if it does not, or the store does not tell
 * @param epoch the epoch of the grant, or {@code null} if the store does not tell
 * @since 0.2.0
 */
public record LockHolder(@Nullable String owner, String text, @Nullable Instant since, @Nullable Instant expires,
		@Nullable Long epoch) {

	/**
	 * Whether this is the holder of one acquisition.
	 * @param owner its owner
	 * @param epoch its epoch
	 * @return {@code false} also if the store does not tell who this is
	 */
	public boolean isOf(String owner, long epoch) {
		return owner.equals(this.owner) && this.epoch != null && this.epoch == epoch;
	}

	/**
	 * A holder of whom nothing is known but a text.
	 * @param text who it is and for how long, for people
	 * @return the holder
	 */
	public static LockHolder described(String text) {
		return new LockHolder(null, text, null, null, null);
	}

}
