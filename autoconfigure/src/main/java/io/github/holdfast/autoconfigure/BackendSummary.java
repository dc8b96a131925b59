package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.Set;

import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

import io.github.holdfast.transaction.CommitGuardLevel;

/**
 * What the start tells about a backend.
 *
 * @param properties how its locks are taken
 * @param handover how they are handed over
 * @param level how commits under them are checked
 */
record BackendSummary(LockProperties properties, LockProperties.Handover handover, CommitGuardLevel level) {

	/**
	 * The end of a sentence, and what the application may rely on and what not.
	 */
	String text() {
		return "as '" + this.properties.getKeyPrefix() + "...', waited for " + text(this.properties.getWaitTime())
				+ ", leased for " + text(this.properties.getLeaseTime()) + ", " + this.handover.summary() + ". "
				+ promise();
	}

	private static String text(Duration time) {
		return DurationFormatterUtils.print(time, DurationFormat.Style.COMPOSITE);
	}

	private String promise() {
		String promise = switch (this.level) {
			case FENCE -> "Commit guard 'fence': the database refuses transactions of a superseded holder";
			case VERIFY -> "Commit guard 'verify': transactions are rolled back if the store says before their "
					+ "commit that the lock is lost; one that is lost after that is not noticed";
			case LEASE -> "Commit guard 'lease': transactions are rolled back if this process knows before "
					+ "their commit that the lock is lost; a process that was paused may not know";
		};
		Set<String> unguarded = this.properties.getUnguardedTransactionManagers();
		return promise + ". Not protected: messages, calls of other systems, what is written outside of transactions"
				+ (unguarded.isEmpty() ? "" : ", transactions of " + unguarded);
	}

}
