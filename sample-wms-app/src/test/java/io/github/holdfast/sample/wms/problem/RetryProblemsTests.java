package io.github.holdfast.sample.wms.problem;

import java.net.ConnectException;

import io.github.holdfast.LockBackendException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.CannotCreateTransactionException;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the log says of calls that are not served.
 */
@ExtendWith(OutputCaptureExtension.class)
class RetryProblemsTests {

	private final RetryProblems problems = new RetryProblems();

	private final ConnectException cause = new ConnectException("Connection refused");

	@Test
	void callWithoutLockStoreIsOneLine(CapturedOutput output) {
		assertThat(this.problems.lockStoreDown(new LockBackendException("stock:A", "is down", this.cause))
			.getStatusCode()
			.value()).isEqualTo(503);
		assertOneLine(output);
	}

	@Test
	void callWithoutDatabaseIsOneLine(CapturedOutput output) {
		assertThat(this.problems.databaseDown(new CannotCreateTransactionException("No connection", this.cause))
			.getStatusCode()
			.value()).isEqualTo(503);
		assertOneLine(output);
	}

	private static void assertOneLine(CapturedOutput output) {
		assertThat(output.toString().lines().toList()).filteredOn((line) -> line.contains("Not served"))
			.singleElement()
			.asString()
			.contains("ConnectException: Connection refused");
		assertThat(output).doesNotContain("\tat ");
	}

}
