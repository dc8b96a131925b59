package io.github.holdfast.documentation;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import org.junit.jupiter.api.Test;
import org.slf4j.MDC;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.core.JdbcTemplate;

import io.github.holdfast.LockContext;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** The listeners in the page about operations. */
class ListenerTests {

	@Test
	void lossIsPublishedAsAnEventOfTheApplication() {
		LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withBean(LossPublisher.class)
			.withBean(Alarms.class)
			.run((context) -> {
				LockTemplate stock = context.getBean(LockTemplate.class).withName("stock");
				assertThatExceptionOfType(LockLostAfterWorkException.class).isThrownBy(() -> stock.run("A",
						() -> context.getBean(JdbcTemplate.class).update("DELETE FROM holdfast_lock")));
				assertThat(context.getBean(Alarms.class).pages).singleElement()
					.asString()
					.startsWith("Lock stock was lost after PT");
			});
	}

	@Test
	void linesUnderALockHaveItsNameAndTokens() {
		ApplicationContextRunner application = LockedApplication.local().withBean(LockMdc.class);
		application.run((context) -> {
			LockTemplate stock = context.getBean(LockTemplate.class).withName("stock");
			stock.run("A", () -> {
				String outer = "stock [" + LockContext.current().orElseThrow().fencingToken() + "]";
				assertThat(MDC.get("lock")).isEqualTo(outer);
				stock.withName("items").execute(List.of("B", "C"), () -> {
					assertThat(MDC.get("lock")).matches("items \\[\\d+, \\d+]");
					return null;
				});
				assertThat(MDC.get("lock")).isEqualTo(outer);
			});
			assertThat(MDC.get("lock")).isNull();
		});
	}

	record LockLost(String name, Duration holdTime) {

	}

	static class LossPublisher implements LockListener {

		private final ApplicationEventPublisher events;

		LossPublisher(ApplicationEventPublisher events) {
			this.events = events;
		}

		@Override
		public void onLost(Call call, String key, Duration holdTime) {
			this.events.publishEvent(new LockLost(call.name(), holdTime));
		}

	}

	static class Alarms {

		private final List<String> pages = new ArrayList<>();

		@EventListener
		void lost(LockLost event) {
			this.pages.add("Lock " + event.name() + " was lost after " + event.holdTime());
		}

	}

}
