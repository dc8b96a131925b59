package io.github.holdfast.event;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CopyOnWriteArrayList;

import org.junit.jupiter.api.Test;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.event.EventListener;

import io.github.holdfast.LockListener.Outcome;
import io.github.holdfast.LockListener.Reason;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.LockBackendAutoConfiguration;
import io.github.holdfast.autoconfigure.LockObservationAutoConfiguration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Events for those who listen, and none for those who do not.
 */
class LockEventPublisherTests {

	private final ApplicationContextRunner application = new ApplicationContextRunner()
		.withConfiguration(
				AutoConfigurations.of(LockBackendAutoConfiguration.class, LockObservationAutoConfiguration.class))
		.withPropertyValues("holdfast.backend=local");

	@Test
	void eventsTellWhatBecomesOfACall() {
		this.application.withBean(AllEvents.class).run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withName("stock").withWaitTime(Duration.ZERO);
			locks.run("A", () -> assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(CompletableFuture.runAsync(() -> locks.run("A", () -> {
				}))::join));
			List<LockEvent> events = context.getBean(AllEvents.class).events;
			assertThat(events).extracting((event) -> event.call().name()).containsOnly("stock");
			assertThat(events).satisfiesExactly((event) -> assertThat(event).isInstanceOf(LockAcquiredEvent.class),
					(event) -> assertThat(event).isInstanceOfSatisfying(LockNotAcquiredEvent.class,
							(it) -> assertThat(it.reason()).isEqualTo(Reason.BUSY)),
					(event) -> assertThat(event).isInstanceOfSatisfying(LockReleasedEvent.class,
							(it) -> assertThat(it.outcome()).isEqualTo(Outcome.RELEASED)));
		});
	}

	@Test
	void nothingIsMadeIfNobodyListens() {
		this.application
			.run((context) -> assertThat(context.getBean(LockEventPublisher.class).isListenedTo()).isFalse());
	}

	@Test
	void nothingIsMadeIfNobodyListensInAWebApplication() {
		new WebApplicationContextRunner()
			.withConfiguration(
					AutoConfigurations.of(LockBackendAutoConfiguration.class, LockObservationAutoConfiguration.class))
			.withPropertyValues("holdfast.backend=local")
			.run((context) -> assertThat(context.getBean(LockEventPublisher.class).isListenedTo()).isFalse());
	}

	@Test
	void listenerThatComesLaterIsFound() {
		this.application.run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			locks.run("A", () -> {
			});
			List<LockReleasedEvent> events = new CopyOnWriteArrayList<>();
			ApplicationListener<PayloadApplicationEvent<LockReleasedEvent>> listener = ApplicationListener
				.forPayload(events::add);
			context.getSourceApplicationContext().addApplicationListener(listener);
			locks.run("A", () -> {
			});
			assertThat(events).hasSize(1);
		});
	}

	@Test
	void lazyListenerIsFound() {
		this.application.withBean(LazyListener.class, LazyListener::new, (definition) -> definition.setLazyInit(true))
			.run((context) -> {
				context.getBean(LockTemplate.class).run("A", () -> {
				});
				assertThat(context.getBean(LazyListener.class).events).hasSize(1);
			});
	}

	@Test
	void listenerOfTheParentIsFound() {
		this.application.withBean(AllEvents.class)
			.run((parent) -> this.application.withParent(parent).run((context) -> {
				context.getBean(LockTemplate.class).run("A", () -> {
				});
				assertThat(parent.getBean(AllEvents.class).events).hasSize(2);
			}));
	}

	@Test
	void listenerThatFailsChangesNothing() {
		this.application.withBean(FailingListener.class)
			.run((context) -> assertThat(
					context.getBean(LockTemplate.class).<String, RuntimeException>execute("A", () -> "done"))
				.isEqualTo("done"));
	}

	static class AllEvents {

		private final List<LockEvent> events = new CopyOnWriteArrayList<>();

		@EventListener
		void on(LockEvent event) {
			this.events.add(event);
		}

	}

	static class LazyListener implements ApplicationListener<PayloadApplicationEvent<LockReleasedEvent>> {

		private final List<LockReleasedEvent> events = new CopyOnWriteArrayList<>();

		@Override
		public void onApplicationEvent(PayloadApplicationEvent<LockReleasedEvent> event) {
			this.events.add(event.getPayload());
		}

	}

	static class FailingListener {

		@EventListener
		void on(LockAcquiredEvent event) {
			throw new IllegalStateException("failed listener");
		}

	}

}
