package io.github.holdfast.observation;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.holdfast.LockListener.Call;
import io.github.holdfast.LockRequest;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is remembered of the order in which locks are taken, and for how long.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockOrderTests {

	private static final String WARNING = "Locks are taken in opposite orders";

	private final LockOrder order = new LockOrder();

	@Test
	void circleOfSeveralLocksIsFound(CapturedOutput output) {
		attempt("A", "B");
		attempt("B", "C");
		attempt("C", "D");
		assertThat(output).doesNotContain(WARNING);
		attempt("D", "A");
		assertThat(output).contains(WARNING, "'lock:D' and then 'lock:A' by 'D then A'",
				"the other way round by 'A then B'");
		assertThat(output.getOut().split("; and by ")).hasSize(3);
	}

	@Test
	void sameOrderIsNoCircle(CapturedOutput output) {
		attempt("A", "B");
		attempt("A", "C");
		attempt("B", "C");
		attempt("A", "B");
		assertThat(output).doesNotContain(WARNING);
	}

	@Test
	void pairIsWarnedOfOnce(CapturedOutput output) {
		attempt("A", "B");
		attempt("B", "A");
		for (int i = 0; i < 5000; i++) {
			attempt("X" + i, "Y" + i);
		}
		attempt("A", "B");
		attempt("B", "A");
		assertThat(output.getOut().split(WARNING)).hasSize(2);
	}

	/**
	 * Earlier versions did not tell the name.
	 */
	@ParameterizedTest
	@ValueSource(strings = { "held by 17@host worker-1, holding 'lock:B', whose lease ends in 900 ms",
			"held by 17@host worker-1, holding 'lock:C', 'lock:B' in 'Orders.cancel', whose lease ends in 900 ms" })
	void orderOfAHolderElsewhereIsLearnedFromItsText(String text, CapturedOutput output) {
		attempt("A", "B");
		this.order.busy("lock:A", text);
		assertThat(output).contains(WARNING,
				"'lock:B' and then 'lock:A' by a holder elsewhere (held by 17@host worker-1",
				"the other way round by 'A then B'");
	}

	@Test
	void whatIsRememberedIsBounded() {
		for (int i = 0; i < 10_000; i++) {
			attempt("X" + i, "Y" + i);
		}
		assertThat(this.order.pairs()).isEqualTo(4096);
	}

	@Test
	void callThatHoldsNothingElseIsNotRemembered() {
		this.order.asked(call(List.of(), "A"));
		assertThat(this.order.pairs()).isZero();
	}

	@Test
	void optimisticCallWaitsForNobody() {
		this.order
			.asked(new Call(1, "item", List.of("A"), LockRequest.Mode.OPTIMISTIC, "local", "lock:", List.of("lock:B")));
		assertThat(this.order.pairs()).isZero();
	}

	private void attempt(String held, String key) {
		this.order.asked(new Call(1, held + " then " + key, List.of(key), LockRequest.Mode.EXCLUSIVE, "local", "lock:",
				List.of("lock:" + held)));
	}

	private static Call call(List<String> held, String key) {
		return new Call(1, "stock", List.of(key), LockRequest.Mode.EXCLUSIVE, "local", "lock:", held);
	}

}
