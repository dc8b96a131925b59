package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockBackend;
import io.github.holdfast.LockContext;
import io.github.holdfast.LockLease;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.testsupport.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What is configured for the locks of one name wins over annotations and code, and what
 * has no effect fails the start.
 */
@ExtendWith(OutputCaptureExtension.class)
class LockOverridesTests {

	private final RecordingBackend backend = new RecordingBackend();

	private final ApplicationContextRunner application = LockedApplication.local()
		.withBean(LockBackend.class, () -> this.backend);

	// What they do

	@Test
	void overridesWinOverTheAnnotation() {
		assertRuns(with(Stock.class, "holdfast.locks.stock.wait-time=11s", "holdfast.locks.stock.lease-time=22s",
				"holdfast.locks.stock.max-hold-time=33s"), (context) -> context.getBean(Stock.class).take());
		assertRequest(Duration.ofSeconds(11), Duration.ofSeconds(22));
	}

	@Test
	void whatIsNotOverriddenIsThatOfTheAnnotation() {
		assertRuns(with(Stock.class, "holdfast.locks.stock.lease-time=22s"),
				(context) -> context.getBean(Stock.class).take());
		assertRequest(Duration.ofSeconds(1), Duration.ofSeconds(22));
	}

	@Test
	void overridesWinOverCallsBeforeAndAfterTheName() {
		assertRuns(
				with(Report.class, "holdfast.locks.report.wait-time=11s", "holdfast.locks.report.lease-time=22s",
						"holdfast.locks.report.max-hold-time=33s"),
				(context) -> context.getBean(LockTemplate.class)
					.withWaitTime(Duration.ofSeconds(1))
					.withName("report")
					.withLeaseTime(Duration.ofSeconds(2))
					.run("A", () -> {
					}));
		assertRequest(Duration.ofSeconds(11), Duration.ofSeconds(22));
	}

	@Test
	void copyWithAnotherNameHasNoOverrides() {
		assertRuns(with(Report.class, "holdfast.locks.report.wait-time=11s", "holdfast.locks.report.enabled=false"),
				(context) -> context.getBean(LockTemplate.class).withName("report").withName("other").run("A", () -> {
				}));
		assertRequest(Duration.ofSeconds(5), Duration.ofSeconds(30));
	}

	@Test
	void minimumHoldTimeIsOverridden() {
		List<LockListener.Outcome> outcomes = new CopyOnWriteArrayList<>();
		assertRuns(with(Held.class, "holdfast.locks.held.min-hold-time=1m").withBean(LockListener.class,
				() -> new LockListener() {

					@Override
					public void released(Call call, Outcome outcome, Duration holdTime) {
						outcomes.add(outcome);
					}

				}), (context) -> context.getBean(Held.class).take());
		assertThat(outcomes).containsExactly(LockListener.Outcome.HELD);
	}

	@Test
	void lockThatIsSwitchedOffIsNotTaken(CapturedOutput output) {
		assertRuns(with(Stock.class, "holdfast.locks.stock.enabled=false"),
				(context) -> assertThat(context.getBean(Stock.class).take()).isEmpty());
		assertThat(this.backend.requests).isEmpty();
		assertThat(output).containsOnlyOnce("Lock 'stock' is switched off by 'holdfast.locks'");
	}

	@Test
	void lockAroundOneThatIsSwitchedOffIsStillSeen() {
		assertRuns(with(Stock.class, "holdfast.locks.stock.enabled=false"),
				(context) -> context.getBean(LockTemplate.class)
					.withName("outer")
					.run("A", () -> assertThat(context.getBean(Stock.class).take()).contains("outer")));
	}

	// How names are written

	@Test
	void nameWithADotIsWrittenInBrackets() {
		assertRuns(with(Dotted.class, "holdfast.locks[stock.take].wait-time=11s"),
				(context) -> context.getBean(Dotted.class).take());
		assertRequest(Duration.ofSeconds(11), Duration.ofSeconds(30));
	}

	@Test
	void defaultNameIsWrittenInBracketsToo() {
		assertRuns(with(Unnamed.class, "holdfast.locks[LockOverridesTests.Unnamed.take].wait-time=11s"),
				(context) -> context.getBean(Unnamed.class).take());
		assertRequest(Duration.ofSeconds(11), Duration.ofSeconds(30));
	}

	@Test
	void nameMayBeAPlaceholder() {
		assertRuns(with(Placeholder.class, "app.lock=stock", "holdfast.locks.stock.wait-time=11s"),
				(context) -> context.getBean(Placeholder.class).take());
		assertRequest(Duration.ofSeconds(11), Duration.ofSeconds(30));
	}

	// Which locks are known

	@Test
	void lockOfALazyBeanIsKnown() {
		assertStarts(this.application.withBean(Stock.class, Stock::new, (definition) -> definition.setLazyInit(true))
			.withPropertyValues("holdfast.locks.stock.wait-time=11s"));
	}

	@Test
	void lockOfAPrototypeIsKnown() {
		assertStarts(this.application
			.withBean(Stock.class, Stock::new, (definition) -> definition.setScope(BeanDefinition.SCOPE_PROTOTYPE))
			.withPropertyValues("holdfast.locks.stock.wait-time=11s"));
	}

	@Test
	void lockOfAScopedBeanIsKnown() {
		assertStarts(this.application.withUserConfiguration(Scoped.class)
			.withPropertyValues("holdfast.locks[LockOverridesTests.Scoped.take].wait-time=11s"));
	}

	@Test
	void lockOfAFactoryBeansProductIsKnown() {
		assertStarts(with(StockFactory.class, "holdfast.locks.stock.wait-time=11s"));
	}

	@Test
	void lockOnAnInterfaceBehindAJdkProxyIsKnown() {
		assertStarts(with(PurchaseService.class, "spring.aop.proxy-target-class=false",
				"holdfast.locks.purchase.wait-time=11s"));
	}

	@Test
	void lockIsKnownWhenAllBeansAreLazy() {
		assertStarts(with(Stock.class, "holdfast.locks.stock.wait-time=11s").withInitializer(
				(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor())));
	}

	@Test
	void overridesAreIgnoredWhenAllLocksAreSwitchedOff() {
		assertStarts(with(Stock.class, "holdfast.enabled=false", "holdfast.locks.other.wait-time=11s"));
	}

	// What fails the start

	@Test
	void nameThatMatchesNoLockFailsTheStart() {
		assertFails(with(Stock.class, "holdfast.locks.stok.wait-time=11s"),
				"The overrides 'holdfast.locks[stok]' match no lock.", "[LockTemplate, stock]", "withName(...)");
	}

	@Test
	void nameThatMatchesNoLockFailsTheStartWhenAllBeansAreLazy() {
		assertFails(with(Stock.class, "holdfast.locks.stok.wait-time=11s").withInitializer(
				(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor())),
				"The overrides 'holdfast.locks[stok]' match no lock.");
	}

	@Test
	void nameThatIsGivenAfterTheStartFailsTheStart() {
		assertFails(this.application.withPropertyValues("holdfast.locks.report.wait-time=11s"),
				"The overrides 'holdfast.locks[report]' match no lock.");
	}

	@ParameterizedTest
	@CsvSource({ "holdfast.locks.LockOverridesTests.Unnamed.take.wait-time",
			"holdfast.locks.LockOverridesTests.wait-time", "holdfast.locks.take.wait-time" })
	void partOfADefaultNameFailsTheStart(String property) {
		assertFails(with(Unnamed.class, property + "=11s"), "The name of a lock that has a dot is written in brackets");
	}

	@Test
	void unknownPropertyFailsTheStart() {
		assertFails(with(Stock.class, "holdfast.locks.stock.wait-tme=11s", "holdfast.locks.stock.lease-time=22s"),
				"The property 'holdfast.locks.stock.wait-tme' is unknown");
	}

	@Test
	void unknownPropertyAmongTheSystemPropertiesFailsTheStart() {
		assertFails(this.application.withBean(Stock.class).withSystemProperties("holdfast.locks.stock.wait-tme=11s"),
				"The property 'holdfast.locks.stock.wait-tme' is unknown");
	}

	@ParameterizedTest
	@CsvSource({ "wait-time=-1s,cannot be negative", "lease-time=0s,more than zero", "max-hold-time=0s,more than zero",
			"min-hold-time=-1s,cannot be negative" })
	void timeThatCannotWorkFailsTheStart(String property, String message) {
		String name = property.substring(0, property.indexOf('='));
		assertFails(with(Stock.class, "holdfast.locks.stock." + property), "'holdfast.locks.stock." + name + "' is '");
		assertFails(with(Stock.class, "holdfast.locks.stock." + property), message);
	}

	@Test
	void minimumAboveTheMaximumFailsTheStart() {
		assertFails(with(Stock.class, "holdfast.locks.stock.min-hold-time=3s", "holdfast.locks.stock.max-hold-time=2s"),
				"The overrides 'holdfast.locks[stock]' are not usable: "
						+ "Minimum hold time must not be longer than its maximum hold time");
	}

	@Test
	void minimumAboveTheMaximumOfTheAnnotationFailsTheStart() {
		assertFails(with(Stock.class, "holdfast.locks.stock.min-hold-time=11m"), "LockOverridesTests.Stock.take()",
				"Minimum hold time of lock 'stock' must not be longer than its maximum hold time",
				"correct 'holdfast.locks'");
	}

	@Test
	void textThatIsNoDurationFailsTheStart() {
		with(Stock.class, "holdfast.locks.stock.wait-time=soon").run((context) -> assertThat(context).getFailure()
			.hasStackTraceContaining("holdfast.locks.stock.wait-time")
			.hasStackTraceContaining("'soon' is not a valid duration"));
	}

	@Test
	void templateThatDoesNotKnowTheOverridesFailsTheStart() {
		assertFails(
				with(Stock.class, "holdfast.locks.stock.wait-time=11s").withBean(LockTemplate.class,
						() -> new LockTemplate(() -> this.backend, List::of)),
				"'holdfast.locks' has no effect", "LockTemplate bean of its own");
	}

	private ApplicationContextRunner with(Class<?> bean, String... properties) {
		return this.application.withBean(bean).withPropertyValues(properties);
	}

	private static void assertStarts(ApplicationContextRunner application) {
		assertRuns(application, (context) -> {
		});
	}

	private static void assertRuns(ApplicationContextRunner application,
			Consumer<ConfigurableApplicationContext> consumer) {
		application.run((context) -> {
			assertThat(context).hasNotFailed();
			consumer.accept(context.getSourceApplicationContext());
		});
	}

	private void assertRequest(Duration waitTime, Duration leaseTime) {
		assertThat(this.backend.requests).singleElement().satisfies((request) -> {
			assertThat(request.waitTime()).isBetween(waitTime.minusSeconds(5), waitTime);
			assertThat(request.leaseTime()).isEqualTo(leaseTime);
		});
	}

	private static void assertFails(ApplicationContextRunner application, String... text) {
		application.run((context) -> {
			assertThat(context).hasFailed();
			Throwable failure = context.getStartupFailure();
			while (!(failure instanceof LockConfigurationException) && failure.getCause() != null) {
				failure = failure.getCause();
			}
			assertThat(failure).isInstanceOf(LockConfigurationException.class).hasMessageContainingAll(text);
		});
	}

	static class RecordingBackend implements LockBackend {

		private final LocalLockBackend store = new LocalLockBackend();

		private final List<LockRequest> requests = new CopyOnWriteArrayList<>();

		@Override
		public @Nullable LockLease acquire(LockRequest request) throws InterruptedException {
			this.requests.add(request);
			return this.store.acquire(request);
		}

	}

	static class Stock {

		@DistributedLock(key = "'overridden-stock'", name = "stock", waitTime = "1s", leaseTime = "2s",
				maxHoldTime = "10m")
		public Optional<String> take() {
			return LockContext.current().map(LockContext::name);
		}

	}

	static class Held {

		@DistributedLock(key = "'held'", name = "held")
		public void take() {
		}

	}

	static class Report {

		Report(LockTemplate locks) {
			locks.withName("report");
		}

	}

	static class Dotted {

		@DistributedLock(key = "'dotted'", name = "stock.take")
		public void take() {
		}

	}

	static class Unnamed {

		@DistributedLock(key = "'unnamed'")
		public void take() {
		}

	}

	static class Placeholder {

		@DistributedLock(key = "'placeholder'", name = "${app.lock}")
		public void take() {
		}

	}

	@Scope(scopeName = BeanDefinition.SCOPE_PROTOTYPE, proxyMode = ScopedProxyMode.TARGET_CLASS)
	static class Scoped {

		@DistributedLock(key = "'scoped'")
		public void take() {
		}

	}

	static class StockFactory implements FactoryBean<Stock> {

		@Override
		public Stock getObject() {
			return new Stock();
		}

		@Override
		public Class<?> getObjectType() {
			return Stock.class;
		}

	}

	interface Purchase {

		@DistributedLock(key = "'purchase'", name = "purchase")
		void buy();

	}

	static class PurchaseService implements Purchase {

		@Override
		public void buy() {
		}

	}

}
