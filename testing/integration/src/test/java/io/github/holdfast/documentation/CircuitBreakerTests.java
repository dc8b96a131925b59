package io.github.holdfast.documentation;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;

import io.github.resilience4j.circuitbreaker.CallNotPermittedException;
import io.github.resilience4j.circuitbreaker.CircuitBreaker.State;
import io.github.resilience4j.circuitbreaker.CircuitBreakerRegistry;
import io.github.resilience4j.circuitbreaker.annotation.CircuitBreaker;
import io.github.resilience4j.springboot.circuitbreaker.autoconfigure.CircuitBreakerAutoConfiguration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ContextConsumer;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.RedisStore;
import io.github.holdfast.testsupport.TestDatabase;
import io.github.holdfast.testsupport.Threads;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

/** The circuit breaker in the page about operations, with its configuration. */
@Timeout(120)
class CircuitBreakerTests {

	/** The minimum number of calls of the circuit breaker. */
	private static final int CALLS = 5;

	@Test
	void callsFailAtOnceWhileTheStoreIsDownAndComeBackWithIt() throws Exception {
		try (RedisServer server = RedisServer.start()) {
			run(server, (context) -> {
				StockService stock = context.getBean(StockService.class);
				assertThat(stock.deduct("A", 1)).isOne();
				server.kill();
				// By keys of their own: a release before them may still wait
				Threads.together(CALLS - 1, (call) -> assertThatExceptionOfType(LockBackendException.class)
					.isThrownBy(() -> stock.deduct("A" + call, 1)));
				int attempts = context.getBean(Attempts.class).count.get();
				assertThatExceptionOfType(CallNotPermittedException.class).isThrownBy(() -> stock.deduct("A", 1));
				assertThat(context.getBean(Attempts.class).count).as("the store is not asked").hasValue(attempts);
				server.restart();
				await().atMost(Duration.ofSeconds(60))
					.ignoreExceptions()
					.until(() -> stock.deduct("A", 1) == 1 && state(context) == State.CLOSED);
			});
		}
	}

	@Test
	void busyLockIsNoFailureOfTheStore() throws Exception {
		run(RedisServer.shared(), (context) -> {
			StockService stock = context.getBean(StockService.class);
			context.getBean(LockTemplate.class).run("stock:A", () -> CompletableFuture.runAsync(() -> {
				for (int i = 0; i < 2 * CALLS; i++) {
					assertThatExceptionOfType(LockNotAcquiredException.class).isThrownBy(() -> stock.deduct("A", 1));
				}
			}).join());
			assertThat(state(context)).isEqualTo(State.CLOSED);
			assertThat(stock.deduct("A", 1)).isOne();
		});
	}

	private static void run(RedisServer server, ContextConsumer<AssertableApplicationContext> test) throws Exception {
		PropertySource<?> configuration = configuration();
		ApplicationContextRunner application = RedisStore.REDIS
			.application(TestDatabase.H2.newDatabase(), server.port())
			.withConfiguration(AutoConfigurations.of(CircuitBreakerAutoConfiguration.class))
			.withPropertyValues("holdfast.wait-time=10ms")
			.withInitializer((context) -> context.getEnvironment().getPropertySources().addLast(configuration))
			.withBean(StockService.class)
			.withBean(Attempts.class);
		application.run(test);
	}

	private static PropertySource<?> configuration() throws Exception {
		String text = Documentation.blocks("yaml")
			.stream()
			.filter((block) -> block.page().equals("docs/operations.md") && block.text().contains("resilience4j:"))
			.map(Documentation.Block::text)
			.findFirst()
			.orElseThrow();
		return new YamlPropertySourceLoader()
			.load("documented", new ByteArrayResource(text.getBytes(StandardCharsets.UTF_8)))
			.get(0);
	}

	private static State state(AssertableApplicationContext context) {
		return context.getBean(CircuitBreakerRegistry.class).circuitBreaker("locks").getState();
	}

	static class StockService {

		@CircuitBreaker(name = "locks")
		@DistributedLock("'stock:' + #sku")
		@Transactional
		public int deduct(String sku, int quantity) {
			return quantity;
		}

	}

	static class Attempts implements LockListener {

		private final AtomicInteger count = new AtomicInteger();

		@Override
		public void onAttempt(Call call) {
			this.count.incrementAndGet();
		}

	}

}
