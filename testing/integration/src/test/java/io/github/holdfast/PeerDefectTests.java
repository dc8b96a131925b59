package io.github.holdfast;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.sql.DataSource;

import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.aop.support.AopUtils;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.autoconfigure.DistributedLockAutoConfiguration;
import io.github.holdfast.autoconfigure.LockBackendAutoConfiguration;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.core.Renewals;
import io.github.holdfast.core.TemplateAccess;
import io.github.holdfast.store.jdbc.JdbcLockBackend;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.LeaseCalls;
import io.github.holdfast.testsupport.TestBackend;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Defects that were seen in other libraries for distributed locks, each as what Holdfast
 * does in the same place.
 */
class PeerDefectTests {

	// The order of lock and transaction depends on the configuration

	@ParameterizedTest(name = "{0}")
	@MethodSource("configurations")
	void lockIsReleasedAfterTheCommitWhateverTheOrderOfTheConfigurations(String description,
			Class<?>[] configurations) {
		DatabaseAccess access = TestDatabase.H2.newDatabase();
		try (AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
				var observer = access.dataSource(1)) {
			List<Integer> rowsAtRelease = new CopyOnWriteArrayList<>();
			context.registerBean(LeaseCalls.class, () -> new LeaseCalls((call) -> {
				if (call.equals("release")) {
					rowsAtRelease.add(rows(new JdbcTemplate(observer)));
				}
			}));
			context.registerBean(DataSource.class, () -> access.dataSource(4));
			DatabaseAccess.runScript(observer, "io/github/holdfast/jdbc/schema-h2.sql");
			context.register(configurations);
			context.refresh();
			context.getBean(Work.class).insert("A");
			assertThat(rowsAtRelease).containsExactly(1);
		}
	}

	static Stream<Arguments> configurations() {
		Class<?> backend = LockBackendAutoConfiguration.class;
		Class<?> locks = DistributedLockAutoConfiguration.class;
		Class<?> transactions = TransactionConfiguration.class;
		Class<?> beans = BeanConfiguration.class;
		return Stream.of(Arguments.of("transactions first", new Class<?>[] { transactions, beans, backend, locks }),
				Arguments.of("locks first", new Class<?>[] { backend, locks, beans, transactions }),
				Arguments.of("beans first", new Class<?>[] { beans, locks, backend, transactions }),
				Arguments.of("beans last", new Class<?>[] { locks, transactions, backend, beans }));
	}

	@Test
	void transactionOutsideOfTheLockFailsTheStart() {
		TestBackend.LOCAL.application()
			.withUserConfiguration(OuterTransactionConfiguration.class)
			.withBean(Work.class)
			.run((context) -> assertThat(context).getFailure()
				.rootCause()
				.isInstanceOf(LockConfigurationException.class)
				.hasMessageContaining("inside of the method's transaction"));
	}

	// The lock is released inside an outer transaction

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void lockIsNotTakenInsideAnOuterTransactionThatWouldCommitLater(TestBackend backend) {
		run(backend, (context) -> {
			TransactionTemplate outer = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			outer.executeWithoutResult((status) -> assertThatIllegalStateException()
				.isThrownBy(() -> context.getBean(Work.class).insert("A")));
			assertThat(context.getBean(LeaseCalls.class).owners()).isEmpty();
		});
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void lockIsKeptUntilTheOuterTransactionHasEndedIfItIsAskedFor(TestBackend backend) {
		run(backend, (context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO);
			TransactionTemplate outer = new TransactionTemplate(context.getBean(PlatformTransactionManager.class));
			outer.executeWithoutResult((status) -> {
				context.getBean(Work.class).insert("A");
				assertThat(onOtherThread(() -> locks.acquire("A").close()))
					.isInstanceOf(LockNotAcquiredException.class);
			});
			assertThat(onOtherThread(() -> locks.acquire("A").close())).isNull();
		}, "holdfast.on-active-transaction=release-after-completion");
	}

	// Null keys, ambiguous keys, JDK proxies

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void nullKeyIsRefused(TestBackend backend) {
		run(backend, (context) -> {
			assertThatIllegalArgumentException().isThrownBy(() -> context.getBean(Work.class).insert(null));
			assertThat(rows(context.getBean(JdbcTemplate.class))).isZero();
		});
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void listsWhoseElementsLookAlikeWhenJoinedAreDifferentLocks(TestBackend backend) {
		run(backend, (context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO);
			try (LockTemplate.Scope held = locks.acquire(List.of("a.b", "c"))) {
				assertThat(held).isNotNull();
				assertThat(onOtherThread(() -> locks.acquire(List.of("a", "b.c")).close())).isNull();
			}
		});
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void annotationOnTheImplementationIsFoundThroughAJdkProxy(TestBackend backend) {
		backend.application()
			.withBean(LeaseCalls.class)
			.withBean(AnnotatedImplementation.class)
			.withPropertyValues("spring.aop.proxy-target-class=false")
			.run((context) -> {
				Reserving reserving = context.getBean(Reserving.class);
				assertThat(AopUtils.isJdkDynamicProxy(reserving)).isTrue();
				assertThat(reserving.reserve("A")).containsExactly("reserve:A");
			});
	}

	// A stale release frees the successor

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void releaseOfAnExpiredLeaseLeavesTheSuccessorAlone(TestDatabase database) {
		run(TestBackend.valueOf(database.name()), (context) -> {
			LockTemplate.Scope expired = context.getBean(LockTemplate.class).acquire("A");
			context.getBean(JdbcTemplate.class).update("UPDATE holdfast_lock SET expires_at = acquired_at");
			LockTemplate otherNode = otherNode(context);
			try {
				assertThat(onOtherThread(() -> otherNode.run("A", () -> {
					assertThat(onOtherThread(expired::close)).isInstanceOf(LockLostAfterWorkException.class);
					assertThat(LockContext.current()).get().matches(LockContext::isValid);
					assertThat(onOtherThread(() -> thirdNode(context).acquire("A")))
						.isInstanceOf(LockNotAcquiredException.class);
				}))).isNull();
			}
			finally {
				TemplateAccess.close(otherNode);
			}
		});
	}

	// The token changes on re-entry, the lease is ignored

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void tokenStaysTheSameOnReentry(TestBackend backend) {
		run(backend, (context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			locks.run("A", () -> {
				long token = LockContext.current().orElseThrow().fencingToken();
				locks.run("A", () -> assertThat(LockContext.current().orElseThrow().fencingToken()).isEqualTo(token));
				assertThat(LockContext.current().orElseThrow().fencingToken()).isEqualTo(token);
			});
		});
	}

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void leaseTimeThatIsAskedForIsTheOneInTheStore(TestDatabase database) {
		run(TestBackend.valueOf(database.name()),
				(context) -> context.getBean(LockTemplate.class)
					.withLeaseTime(Duration.ofSeconds(77))
					.run("A",
							() -> assertThat(context.getBean(JdbcTemplate.class)
								.queryForObject("SELECT expires_at - acquired_at FROM holdfast_lock", Long.class))
								.isBetween(77_000_000L, 78_000_000L)));
	}

	// The release of several locks is not exception-safe

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void otherLocksAreReleasedWhenOneReleaseFails(TestBackend backend) {
		AtomicInteger releases = new AtomicInteger();
		LeaseCalls failing = new LeaseCalls((call) -> {
			if (call.equals("release") && releases.getAndIncrement() == 1) {
				throw new LockBackendException("b", "failed in a test", null);
			}
		});
		backend.application().withBean(LeaseCalls.class, () -> failing).run((context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO);
			locks.execute(List.of("multi:a", "multi:b", "multi:c"), () -> "done");
			assertThat(onOtherThread(() -> locks.acquire("multi:a").close())).isNull();
			assertThat(onOtherThread(() -> locks.acquire("multi:c").close())).isNull();
			assertThat(onOtherThread(() -> locks.acquire("multi:b").close())).as("runs out by itself")
				.isInstanceOf(LockNotAcquiredException.class);
		});
	}

	// The renewal is left running after re-entrant use

	@ParameterizedTest
	@EnumSource(TestDatabase.class)
	void nothingIsRenewedAfterReentrantUse(TestDatabase database) {
		Duration leaseTime = Duration.ofSeconds(3);
		run(TestBackend.valueOf(database.name()), (context) -> {
			LeaseCalls calls = context.getBean(LeaseCalls.class);
			LockTemplate locks = context.getBean(LockTemplate.class).withLeaseTime(leaseTime);
			locks.run("A", () -> locks.run("A", () -> Awaitility.await().until(() -> calls.count("renew") > 0)));
			// The next one would be due after a third of the lease time
			Renewals.awaitEnd(() -> calls.count("renew"), leaseTime.dividedBy(2));
		});
	}

	// Each lock has a thread

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void manyCallsLeaveNoThreadsBehind(TestBackend backend) {
		Set<Thread> before = threads();
		run(backend, (context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			List<LockTemplate.Scope> held = new ArrayList<>();
			try {
				for (int i = 0; i < 200; i++) {
					held.add(locks.acquire("thread:" + i));
				}
				assertThat(threads()).filteredOn((thread) -> !before.contains(thread)).hasSizeLessThan(20);
			}
			finally {
				held.forEach(LockTemplate.Scope::close);
			}
		});
		Awaitility.await().untilAsserted(() -> assertThat(threads()).isSubsetOf(before));
	}

	// The method runs without its lock, re-entry does not work

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void methodDoesNotRunWhenItsLockIsBusyForTheWholeWaitTime(TestBackend backend) {
		run(backend, (context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class);
			try (LockTemplate.Scope held = locks.acquire("A")) {
				assertThat(held).isNotNull();
				assertThat(onOtherThread(() -> context.getBean(Work.class).insert("A")))
					.isInstanceOf(LockNotAcquiredException.class);
			}
			assertThat(rows(context.getBean(JdbcTemplate.class))).isZero();
		}, "holdfast.wait-time=100ms");
	}

	@ParameterizedTest
	@EnumSource(TestBackend.class)
	void innerCallNeitherWaitsForTheOuterOneNorReleasesItsLock(TestBackend backend) {
		run(backend, (context) -> {
			LockTemplate locks = context.getBean(LockTemplate.class).withWaitTime(Duration.ZERO);
			locks.run("A", () -> {
				context.getBean(Work.class).insert("A");
				assertThat(onOtherThread(() -> locks.acquire("A").close()))
					.isInstanceOf(LockNotAcquiredException.class);
			});
			assertThat(rows(context.getBean(JdbcTemplate.class))).isOne();
			assertThat(onOtherThread(() -> locks.acquire("A").close())).isNull();
		});
	}

	private static void run(TestBackend backend, Scenario scenario, String... properties) {
		backend.application()
			.withBean(LeaseCalls.class)
			.withBean(Work.class)
			.withPropertyValues(properties)
			.run(scenario::run);
	}

	private static LockTemplate otherNode(ApplicationContext context) {
		return new LockTemplate(() -> new JdbcLockBackend(() -> context.getBean(DataSource.class)), List::of);
	}

	private static LockTemplate thirdNode(ApplicationContext context) {
		return otherNode(context).withWaitTime(Duration.ZERO);
	}

	private static @Nullable Throwable onOtherThread(Runnable call) {
		return CompletableFuture.supplyAsync(() -> catchThrowable(call::run), (task) -> new Thread(task).start())
			.orTimeout(60, TimeUnit.SECONDS)
			.join();
	}

	private static int rows(JdbcTemplate jdbc) {
		Integer rows = jdbc.queryForObject("SELECT count(*) FROM work", Integer.class);
		return (rows != null) ? rows : -1;
	}

	private static Set<Thread> threads() {
		return Thread.getAllStackTraces()
			.keySet()
			.stream()
			.filter((thread) -> thread.getName().startsWith("holdfast-")
					&& !thread.getName().matches("holdfast-(release|timer).*"))
			.collect(Collectors.toSet());
	}

	@FunctionalInterface
	private interface Scenario {

		void run(AssertableApplicationContext context);

	}

	static class Work {

		private final JdbcTemplate jdbc;

		Work(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
			jdbc.execute("CREATE TABLE work (id integer)");
		}

		@DistributedLock(key = "#key")
		@Transactional
		public void insert(@Nullable String key) {
			this.jdbc.update("INSERT INTO work VALUES (1)");
		}

	}

	interface Reserving {

		List<String> reserve(String sku);

	}

	static class AnnotatedImplementation implements Reserving {

		@Override
		@DistributedLock(key = "'reserve:' + #sku")
		public List<String> reserve(String sku) {
			return LockContext.current().orElseThrow().keys();
		}

	}

	@EnableTransactionManagement
	@Configuration(proxyBeanMethods = false)
	static class TransactionConfiguration {

		@Bean
		PlatformTransactionManager transactionManager(DataSource dataSource) {
			return new JdbcTransactionManager(dataSource);
		}

	}

	@EnableTransactionManagement(order = 0)
	@Configuration(proxyBeanMethods = false)
	static class OuterTransactionConfiguration {

	}

	@Configuration(proxyBeanMethods = false)
	static class BeanConfiguration {

		@Bean
		JdbcTemplate jdbcTemplate(DataSource dataSource) {
			return new JdbcTemplate(dataSource);
		}

		@Bean
		Work work(JdbcTemplate jdbc) {
			return new Work(jdbc);
		}

	}

}
