package io.github.holdfast.migration;

import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.locks.Lock;
import java.util.stream.IntStream;

import javax.sql.DataSource;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.util.UUIDConverter;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.RedisServer;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

/**
 * The way from the lock registries of Spring Integration to Holdfast: before, during and
 * after, in one application.
 */
@Tag("long")
@Timeout(120)
class SpringIntegrationMigrationTests {

	private final RedisServer redis = RedisServer.shared();

	private final ApplicationContextRunner node = LockedApplication.jdbc(TestDatabase.POSTGRESQL.newDatabase())
		.withConfiguration(AutoConfigurations.of(DataRedisAutoConfiguration.class))
		.withPropertyValues("spring.data.redis.host=127.0.0.1", "spring.data.redis.port=" + this.redis.port(),
				"holdfast.backend=jdbc")
		.withUserConfiguration(Application.class);

	private ApplicationContextRunner node(Class<?> registry, Duration timeToLive) {
		return this.node.withUserConfiguration(registry).withBean(Duration.class, () -> timeToLive);
	}

	@ParameterizedTest
	@ValueSource(classes = { OnRedis.class, OnJdbc.class })
	void registryLosesAnUpdateWhenTheTimeToLiveEnds(Class<?> registry) {
		ApplicationContextRunner node = node(registry, Duration.ofSeconds(1));
		node.run((context) -> node(registry, Duration.ofMinutes(10)).run((otherContext) -> {
			Stock stock = context.getBean(Stock.class);
			Stock.Pause pause = stock.pauseNext();
			CompletableFuture<Integer> paused = CompletableFuture
				.supplyAsync(() -> context.getBean(Before.class).deduct("A", 2));
			pause.awaitBegin();
			assertThat(otherContext.getBean(Before.class).deduct("A", 1)).isEqualTo(19);
			pause.end();
			assertThatThrownBy(paused::get).isInstanceOf(ExecutionException.class)
				.hasCauseInstanceOf(ConcurrentModificationException.class);
			assertThat(stock.available()).as("it is committed, and 20 - 2 - 1 would be 17").isEqualTo(18);
		}));
	}

	@Test
	void registryOnJdbcGivesAHeldLockAwayAtTheShutdown() {
		ApplicationContextRunner node = node(OnJdbc.class, Duration.ofMinutes(10));
		node.run((context) -> node.run((otherContext) -> {
			Stock.Pause pause = context.getBean(Stock.class).pauseNext();
			CompletableFuture<Integer> paused = CompletableFuture
				.supplyAsync(() -> context.getBean(Before.class).deduct("A", 2));
			pause.awaitBegin();
			Lock lock = otherContext.getBean(JdbcLockRegistry.class).obtain("stock:A");
			assertThat(lock.tryLock()).isFalse();
			context.getBean(DefaultLockRepository.class).close();
			assertThat(lock.tryLock()).isTrue();
			lock.unlock();
			pause.end();
			assertThatThrownBy(paused::get).isInstanceOf(ExecutionException.class)
				.hasCauseInstanceOf(ConcurrentModificationException.class);
		}));
	}

	@Test
	void keysOfTheRegistryThatShareAStripeAreConfused() {
		ApplicationContextRunner node = node(OnJdbc.class, Duration.ofMinutes(10));
		node.run((context) -> node.run((otherContext) -> {
			JdbcLockRegistry registry = context.getBean(JdbcLockRegistry.class);
			String other = otherKeyOfTheStripe("stock:A");
			Lock outer = registry.obtain("stock:A");
			outer.lock();
			assertThat(CompletableFuture.supplyAsync(() -> registry.obtain(other).tryLock()).get())
				.as("another key, which is free")
				.isFalse();
			Lock inner = registry.obtain(other);
			inner.lock();
			inner.unlock();
			assertThat(otherContext.getBean(JdbcLockRegistry.class).obtain(other).tryLock()).as("it has been unlocked")
				.isFalse();
			outer.unlock();
		}));
	}

	/**
	 * The registry has 256 local locks, whatever the number of keys.
	 */
	private static String otherKeyOfTheStripe(String key) {
		return IntStream.range(0, 100_000)
			.mapToObj((i) -> "stock:B" + i)
			.filter((other) -> stripe(other) == stripe(key))
			.findFirst()
			.orElseThrow();
	}

	private static int stripe(String key) {
		return UUIDConverter.getUUID(key).toString().hashCode() & 0xFF;
	}

	@ParameterizedTest
	@ValueSource(classes = { OnRedis.class, OnJdbc.class })
	void bothLocksAreHeldForOneRelease(Class<?> registry) {
		ApplicationContextRunner node = node(registry, Duration.ofMinutes(10));
		node.run((context) -> node.run((otherContext) -> {
			assertThat(context).hasSingleBean(LockRegistry.class).hasBean("holdfastLockTemplate");
			Stock.Pause pause = context.getBean(Stock.class).pauseNext();
			CompletableFuture<Integer> both = CompletableFuture
				.supplyAsync(() -> context.getBean(During.class).deduct("A", 2));
			pause.awaitBegin();
			assertThat(otherContext.getBean(LockRegistry.class).obtain("stock:A").tryLock()).isFalse();
			assertThatThrownBy(
					() -> otherContext.getBean(LockTemplate.class).withWaitTime(Duration.ZERO).acquire("stock:A"))
				.isInstanceOf(LockNotAcquiredException.class);
			pause.end();
			assertThat(both.get()).isEqualTo(18);
			assertThat(otherContext.getBean(Before.class).deduct("A", 1)).isEqualTo(17);
			assertThat(otherContext.getBean(After.class).deduct("A", 1)).isEqualTo(16);
		}));
	}

	@Configuration(proxyBeanMethods = false)
	@Import({ Stock.class, Before.class, During.class, After.class })
	static class Application {

	}

	@Configuration(proxyBeanMethods = false)
	static class OnRedis {

		@Bean
		RedisLockRegistry lockRegistry(RedisConnectionFactory connections, Duration timeToLive) {
			return new RedisLockRegistry(connections, "shop", timeToLive);
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class OnJdbc {

		@Bean
		DefaultLockRepository lockRepository(DataSource dataSource) {
			JdbcClient.create(dataSource).sql("""
					CREATE TABLE IF NOT EXISTS INT_LOCK (LOCK_KEY CHAR(36), REGION VARCHAR(100), CLIENT_ID CHAR(36),
						CREATED_DATE TIMESTAMP NOT NULL, EXPIRED_AFTER TIMESTAMP NOT NULL,
						PRIMARY KEY (LOCK_KEY, REGION))
					""").update();
			return new DefaultLockRepository(dataSource);
		}

		@Bean
		JdbcLockRegistry lockRegistry(DefaultLockRepository repository, Duration timeToLive) {
			return new JdbcLockRegistry(repository, timeToLive);
		}

	}

	static class Before {

		private final LockRegistry<?> registry;

		private final TransactionTemplate transactions;

		private final Stock stock;

		Before(LockRegistry<?> registry, TransactionTemplate transactions, Stock stock) {
			this.registry = registry;
			this.transactions = transactions;
			this.stock = stock;
		}

		public int deduct(String sku, int quantity) {
			Lock lock = this.registry.obtain("stock:" + sku);
			lock.lock();
			try {
				return this.transactions.execute((status) -> this.stock.deduct(sku, quantity));
			}
			finally {
				lock.unlock();
			}
		}

	}

	static class During {

		private final LockRegistry<?> registry;

		private final TransactionTemplate transactions;

		private final Stock stock;

		During(LockRegistry<?> registry, TransactionTemplate transactions, Stock stock) {
			this.registry = registry;
			this.transactions = transactions;
			this.stock = stock;
		}

		@DistributedLock(key = "'stock:' + #sku")
		public int deduct(String sku, int quantity) {
			Lock lock = this.registry.obtain("stock:" + sku);
			lock.lock();
			try {
				return this.transactions.execute((status) -> this.stock.deduct(sku, quantity));
			}
			finally {
				lock.unlock();
			}
		}

	}

	static class After {

		private final Stock stock;

		After(Stock stock) {
			this.stock = stock;
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public int deduct(String sku, int quantity) {
			return this.stock.deduct(sku, quantity);
		}

	}

}
