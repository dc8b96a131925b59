package io.github.holdfast.benchmarks;

import java.lang.reflect.Method;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.stream.Stream;

import com.baomidou.lock.LockInfo;
import com.baomidou.lock.executor.LockExecutor;
import com.baomidou.lock.executor.RedisTemplateLockExecutor;
import com.baomidou.lock.executor.RedissonLockExecutor;
import com.baomidou.lock.spring.boot.autoconfigure.Lock4jProperties;
import com.zaxxer.hikari.HikariDataSource;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.sync.RedisCommands;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.data.redis.connection.RedisConnectionFactory;
import org.springframework.data.redis.core.StringRedisTemplate;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.util.Assert;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/** The clients of the contenders. The beans are made for those that want them. */
@Configuration(proxyBeanMethods = false)
@Lazy
class Clients {

	private static final Duration LEASE_TIME = Duration.ofSeconds(30);

	@Bean(destroyMethod = "shutdown")
	RedissonClient redisson(@Value("${spring.data.redis.port}") int port) {
		Config config = new Config();
		config.useSingleServer().setAddress("redis://127.0.0.1:" + port);
		return Redisson.create(config);
	}

	@Bean(initMethod = "start", destroyMethod = "close")
	CuratorFramework curator(@Value("${benchmark.zookeeper}") String servers) {
		return CuratorFrameworkFactory.newClient(servers, new ExponentialBackoffRetry(100, 5));
	}

	static LockClient redisson(ApplicationContext application) {
		return LockClient.of(application.getBean(RedissonClient.class)::getLock);
	}

	static LockClient lock4jOnRedisson(ApplicationContext application) {
		return lock4j(new RedissonLockExecutor(application.getBean(RedissonClient.class)), new Lock4jProperties());
	}

	static LockClient lock4jOnRedisTemplate(ApplicationContext application) {
		Lock4jProperties properties = new Lock4jProperties();
		return lock4j(new RedisTemplateLockExecutor(application.getBean(StringRedisTemplate.class), properties),
				properties);
	}

	/**
	 * With a lease time: without one, locks are never renewed or each starts a thread.
	 */
	@SuppressWarnings("rawtypes")
	private static LockClient lock4j(LockExecutor<?> executor, Lock4jProperties properties) {
		com.baomidou.lock.LockTemplate template = new com.baomidou.lock.LockTemplate();
		List<LockExecutor> executors = List.of(executor);
		template.setProperties(properties);
		template.setExecutors(executors);
		try {
			template.afterPropertiesSet();
		}
		catch (Exception ex) {
			throw new IllegalStateException(ex);
		}
		return (key, body) -> {
			LockInfo lock = template.lock(key, LEASE_TIME.toMillis(), TimeUnit.MINUTES.toMillis(1));
			Assert.state(lock != null, "Not locked");
			try {
				body.run();
			}
			finally {
				template.releaseLock(lock);
			}
		};
	}

	/** Waits for nobody, so it is tried again and again here. */
	static LockClient shedLock(ApplicationContext application) {
		LockProvider provider = new RedisLockProvider(application.getBean(RedisConnectionFactory.class), "benchmark");
		return (key, body) -> {
			Optional<SimpleLock> lock;
			while ((lock = provider.lock(new LockConfiguration(Instant.now(), key, LEASE_TIME, Duration.ZERO)))
				.isEmpty()) {
				pause();
			}
			try {
				body.run();
			}
			finally {
				lock.get().unlock();
			}
		};
	}

	private static void pause() {
		LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
	}

	static LockClient springIntegrationRedis(ConfigurableApplicationContext application) {
		return springIntegration(application, RedisLockType.PUB_SUB_LOCK);
	}

	static LockClient springIntegrationRedisSpin(ConfigurableApplicationContext application) {
		return springIntegration(application, RedisLockType.SPIN_LOCK);
	}

	private static LockClient springIntegration(ConfigurableApplicationContext application, RedisLockType type) {
		RedisLockRegistry registry = new RedisLockRegistry(application.getBean(RedisConnectionFactory.class),
				"benchmark");
		registry.setRedisLockType(type);
		atTheEnd(application, registry::destroy);
		return LockClient.of(registry::obtain);
	}

	static LockClient springIntegrationJdbc(ApplicationContext application) {
		HikariDataSource dataSource = application.getBean(HikariDataSource.class);
		boolean postgres = dataSource.getJdbcUrl().startsWith("jdbc:postgresql:");
		new JdbcTemplate(dataSource).execute("""
				create table if not exists INT_LOCK (
					LOCK_KEY char(36) not null,
					REGION varchar(100) not null,
					CLIENT_ID char(36),
					CREATED_DATE %1$s(6) not null,
					EXPIRED_AFTER %1$s(6) not null,
					primary key (LOCK_KEY, REGION)
				)
				""".formatted(postgres ? "timestamp" : "datetime"));
		DefaultLockRepository repository = new DefaultLockRepository(dataSource);
		repository.setTransactionManager(new JdbcTransactionManager(dataSource));
		repository.afterPropertiesSet();
		repository.afterSingletonsInstantiated();
		return LockClient.of(new JdbcLockRegistry(repository)::obtain);
	}

	static LockClient curator(ApplicationContext application) {
		CuratorFramework zooKeeper = application.getBean(CuratorFramework.class);
		return (key, body) -> {
			InterProcessMutex mutex = new InterProcessMutex(zooKeeper, "/locks/" + key);
			try {
				mutex.acquire();
				try {
					body.run();
				}
				finally {
					mutex.release();
				}
			}
			catch (Exception ex) {
				throw new IllegalStateException(ex);
			}
		};
	}

	private static RedisCommands<String, String> commands(ConfigurableApplicationContext application) {
		int port = application.getEnvironment().getRequiredProperty("spring.data.redis.port", Integer.class);
		RedisClient client = RedisClient.create(RedisURI.create("127.0.0.1", port));
		atTheEnd(application, client::shutdown);
		return client.connect().sync();
	}

	/** What Holdfast sends to Redis for a key that is free, and nothing else of it. */
	static LockClient lockScripts(ConfigurableApplicationContext application) {
		RedisCommands<String, String> redis = commands(application);
		String acquire = redis.scriptLoad(script("ACQUIRE"));
		String release = redis.scriptLoad(script("RELEASE"));
		String lease = Long.toString(LEASE_TIME.toMillis());
		return (key, body) -> {
			String owner = UUID.randomUUID().toString();
			String[] keys = Stream
				.of("%s", "holdfast_epoch:{%s}", "holdfast_queue:{%s}", "holdfast_tickets:{%s}",
						"holdfast_sharers:{%s}", "redisson_lock__channel:{%s}")
				.map((name) -> name.replace("%s", key))
				.toArray(String[]::new);
			List<Object> granted = redis.evalsha(acquire, ScriptOutputType.MULTI, keys, owner, lease, lease, "by hand",
					"write", "");
			Assert.state((Long) granted.get(0) > 0, "The key is not free");
			try {
				body.run();
			}
			finally {
				redis.evalsha(release, ScriptOutputType.MULTI, keys, owner);
			}
		};
	}

	private static String script(String name) {
		Class<?> scripts = ClassUtils.resolveClassName("io.github.holdfast.store.redis.LockScript", null);
		Method lua = ReflectionUtils.findMethod(scripts, "lua");
		ReflectionUtils.makeAccessible(lua);
		return Stream.of(scripts.getEnumConstants())
			.filter((script) -> script.toString().equals(name))
			.map((script) -> (String) ReflectionUtils.invokeMethod(lua, script))
			.findFirst()
			.orElseThrow();
	}

	/** The least that a lock in Redis can be: no token, no renewal, no order. */
	static LockClient bareCommands(ConfigurableApplicationContext application) {
		RedisCommands<String, String> redis = commands(application);
		SetArgs lease = SetArgs.Builder.nx().px(LEASE_TIME.toMillis());
		String release = redis.scriptLoad("""
				if redis.call('get', KEYS[1]) == ARGV[1] then
					return redis.call('del', KEYS[1])
				end
				return 0
				""");
		String process = ProcessHandle.current().pid() + ":";
		AtomicLong acquisitions = new AtomicLong();
		return (key, body) -> {
			String owner = process + acquisitions.incrementAndGet();
			while (redis.set(key, owner, lease) == null) {
				pause();
			}
			try {
				body.run();
			}
			finally {
				redis.evalsha(release, ScriptOutputType.INTEGER, new String[] { key }, owner);
			}
		};
	}

	static LockClient bareCommandsFenced(ConfigurableApplicationContext application) {
		return around(lockStatements(application), bareCommands(application));
	}

	/** Begins the transactions of one client inside the lock of another. */
	private static LockClient around(LockClient transaction, LockClient lock) {
		return new LockClient() {

			@Override
			public void run(String key, Runnable body) {
				lock.run(key, body);
			}

			@Override
			public void runInTransaction(String key, Transactions transactions, Runnable body) {
				run(key, () -> transaction.runInTransaction(key, transactions, body));
			}

		};
	}

	static LockClient lockStatements(ApplicationContext application) {
		HoldfastRows rows = HoldfastRows.create(application.getBean(JdbcTemplate.class));
		return new Row(ConcurrentHashMap.newKeySet(), rows::insert, (key, body) -> {
			long owner = rows.lock(key);
			body.run();
			rows.ask(key, owner);
		});
	}

	/**
	 * With a queue in front of it, so that one thread of the JVM waits in the database.
	 */
	static LockClient queuedLockStatements(ApplicationContext application) {
		HoldfastRows rows = HoldfastRows.create(application.getBean(JdbcTemplate.class));
		Map<String, Semaphore> queues = new ConcurrentHashMap<>();
		LockClient row = new Row(ConcurrentHashMap.newKeySet(), rows::insert, (key, body) -> {
			long owner = rows.lock(key);
			queues.get(key).release();
			body.run();
			rows.ask(key, owner);
		});
		return around(row, (key, body) -> {
			queues.computeIfAbsent(key, (same) -> new Semaphore(1, true)).acquireUninterruptibly();
			body.run();
		});
	}

	static LockClient noLock(ApplicationContext application) {
		return (key, body) -> body.run();
	}

	/** A lock for each key, which is kept for ever and reaches no other JVM. */
	static LockClient fairReentrantLocks(ApplicationContext application) {
		Map<String, ReentrantLock> locks = new ConcurrentHashMap<>();
		return LockClient.of((key) -> locks.computeIfAbsent(key, (k) -> new ReentrantLock(true)));
	}

	private static void atTheEnd(ConfigurableApplicationContext application, Runnable end) {
		application.addApplicationListener((ApplicationListener<ContextClosedEvent>) (event) -> end.run());
	}

	/** The lock of a row in a table of locks, which is inserted at its first use. */
	private record Row(Set<String> known, Consumer<String> insert,
			BiConsumer<String, Runnable> lockAndRun) implements LockClient {

		@Override
		public void run(String key, Runnable body) {
			throw new UnsupportedOperationException("There is no lock without a transaction");
		}

		@Override
		public void runInTransaction(String key, Transactions transactions, Runnable body) {
			if (!this.known.contains(key)) {
				try {
					transactions.run(() -> this.insert.accept(key));
				}
				catch (DuplicateKeyException ex) {
					// Another thread, or JVM, or lock in the same table, has been faster
				}
				this.known.add(key);
			}
			transactions.run(() -> this.lockAndRun.accept(key, body));
		}

	}

}
