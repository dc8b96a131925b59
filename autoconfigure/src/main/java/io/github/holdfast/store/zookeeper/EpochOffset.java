package io.github.holdfast.store.zookeeper;

import java.nio.charset.StandardCharsets;
import java.util.concurrent.CompletableFuture;

import org.apache.zookeeper.KeeperException;
import org.jspecify.annotations.Nullable;

import io.github.holdfast.store.Deadline;

/**
 * What is added to zxids to make epochs of them: 0, unless ZooKeeper was set up anew and
 * counts from the start, so that somebody asked for larger ones. One node has it for all
 * locks. It only rises, and only by a holder, in one transaction with a check that it is
 * still one. Whoever reads it after its lock was granted reads what earlier holders have
 * written.
 *
 * @param value the number
 * @param version the version of the node, or {@code null} if there is none
 */
record EpochOffset(long value, @Nullable Integer version) {

	private static final EpochOffset NONE = new EpochOffset(0, null);

	static CompletableFuture<EpochOffset> read(LockSession session) {
		return LockSession.absentAs(NONE, session.read(session.paths().epochs(), null).thenApply(EpochOffset::of));
	}

	private static EpochOffset of(Requests.Content content) {
		return new EpochOffset(Long.parseLong(new String(content.data(), StandardCharsets.UTF_8)),
				content.stat().getVersion());
	}

	/**
	 * Raise the number, unless somebody else has changed it meanwhile.
	 * @param holder the node of a holder
	 * @return the number as it is now
	 */
	EpochOffset raise(LockSession session, String holder, long value, Deadline deadline)
			throws KeeperException, InterruptedException {
		try {
			ZooKeeperAnswers.await(session.writeIfPresent(holder, session.paths().epochs(),
					Long.toString(value).getBytes(StandardCharsets.UTF_8), this.version), deadline);
		}
		catch (KeeperException.BadVersionException | KeeperException.NodeExistsException ex) {
			// Another one was faster
		}
		return ZooKeeperAnswers.await(read(session), deadline);
	}

}
