package io.github.holdfast.check;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationEvent;
import org.springframework.context.ApplicationListener;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.interceptor.TestCompiler;
import io.github.holdfast.testsupport.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/**
 * Beans in a cycle of references, whose proxy is made early: post-processors get the bean
 * itself.
 */
@Tag("F57")
class ReferenceCycleTests {

	private static final String[] REASON = { "has no effect when Spring calls the method by itself",
			"cycle of references", "Break the cycle", "a bean of its own" };

	private final ApplicationContextRunner application = LockedApplication.local()
		.withAllowCircularReferences(true)
		.withUserConfiguration(Scheduling.class);

	private static boolean isLocked() {
		return LockContext.current().isPresent();
	}

	@Configuration(proxyBeanMethods = false)
	@EnableScheduling
	static class Scheduling {

	}

	abstract static class Job {

		final CompletableFuture<Boolean> locked = new CompletableFuture<>();

		@Scheduled(fixedDelay = 20)
		@DistributedLock(key = "'job'")
		public void work() {
			this.locked.complete(isLocked());
		}

		public CompletableFuture<Boolean> locked() {
			return this.locked;
		}

	}

	static class PlainJob extends Job {

	}

	static class SelfJob extends Job {

		@Autowired
		@SuppressWarnings("unused")
		private SelfJob self;

	}

	static class LazySelfJob extends Job {

		@Autowired
		@Lazy
		@SuppressWarnings("unused")
		private LazySelfJob self;

	}

	static class HelpedJob extends Job {

		@Autowired
		@SuppressWarnings("unused")
		private Helper helper;

	}

	static class Helper {

		@Autowired
		@SuppressWarnings("unused")
		private HelpedJob job;

	}

	@ParameterizedTest
	@ValueSource(classes = { PlainJob.class, LazySelfJob.class })
	void scheduledMethodOfABeanInNoCycleIsLocked(Class<? extends Job> job) {
		this.application.withBean("job", job)
			.run((context) -> assertThat(context.getBean(Job.class).locked().get(60, TimeUnit.SECONDS)).isTrue());
	}

	@Test
	void scheduledMethodOfABeanThatInjectsItselfFailsTheStart() {
		assertRefused(this.application.withBean("job", SelfJob.class), "SelfJob.work() of bean 'job'", "(@Scheduled)");
	}

	@Test
	void scheduledMethodOfABeanThatAHelperInjectsBackFailsTheStart() {
		assertRefused(this.application.withBean("job", HelpedJob.class).withBean("helper", Helper.class),
				"HelpedJob.work() of bean 'job'", "(@Scheduled)");
	}

	@Test
	void scheduledMethodIsLockedIfOnlyTheReferenceToTheHelperIsEarly() {
		this.application.withBean("helper", Helper.class)
			.withBean("job", HelpedJob.class)
			.run((context) -> assertThat(context.getBean(Job.class).locked().get(60, TimeUnit.SECONDS)).isTrue());
	}

	@ParameterizedTest
	@ValueSource(strings = { "org.springframework.jms.annotation.JmsListener",
			"org.springframework.kafka.annotation.KafkaListener", "org.springframework.kafka.annotation.KafkaHandler",
			"org.springframework.amqp.rabbit.annotation.RabbitListener",
			"org.springframework.amqp.rabbit.annotation.RabbitHandler",
			"org.springframework.pulsar.annotation.PulsarListener",
			"org.springframework.integration.annotation.ServiceActivator",
			"org.springframework.integration.annotation.InboundChannelAdapter",
			"io.awspring.cloud.sqs.annotation.SqsListener" })
	void methodThatAContainerOfMessagesCallsFailsTheStart(String annotation, @TempDir Path sources) throws Exception {
		int dot = annotation.lastIndexOf('.');
		Path source = sources.resolve(annotation.replace('.', '/') + ".java");
		Files.createDirectories(source.getParent());
		Files.writeString(source, """
				package %s;
				@java.lang.annotation.Retention(java.lang.annotation.RetentionPolicy.RUNTIME)
				public @interface %s {
				}""".formatted(annotation.substring(0, dot), annotation.substring(dot + 1)));
		TestCompiler compiler = new TestCompiler();
		assertThat(compiler.compile("Receiver", """
				public class Receiver {
					@org.springframework.beans.factory.annotation.Autowired
					Receiver self;
					@%s
					@io.github.holdfast.DistributedLock(key = "#p0")
					public void receive(String message) {
					}
				}""".formatted(annotation), "-sourcepath", sources.toString())).as(compiler::messages).isTrue();
		Class<?> receiver = compiler.load("Receiver");
		assertRefused(this.application.withClassLoader(receiver.getClassLoader()).withBean("receiver", receiver),
				"Receiver.receive(String) of bean 'receiver'", "(@" + annotation.substring(dot + 1) + ")");
	}

	// Events

	@SuppressWarnings("serial")
	static class Event extends ApplicationEvent {

		Event(Object source) {
			super(source);
		}

	}

	static class Listening implements ApplicationListener<Event> {

		private final List<Boolean> locked = new ArrayList<>();

		@Autowired
		@SuppressWarnings("unused")
		private Listening self;

		@Override
		@DistributedLock(key = "'event'")
		public void onApplicationEvent(Event event) {
			this.locked.add(isLocked());
		}

		public List<Boolean> locked() {
			return this.locked;
		}

	}

	@Test
	void applicationListenerThatInjectsItselfIsLocked() {
		this.application.withBean(Listening.class).run((context) -> {
			context.publishEvent(new Event(this));
			assertThat(context.getBean(Listening.class).locked()).containsExactly(true);
		});
	}

	static class Evented {

		private final List<Boolean> locked = new ArrayList<>();

		@Autowired
		@SuppressWarnings("unused")
		private Evented self;

		@EventListener
		@DistributedLock(key = "'event'")
		public void on(Event event) {
			this.locked.add(isLocked());
		}

		public List<Boolean> locked() {
			return this.locked;
		}

	}

	@Test
	void eventListenerThatInjectsItselfIsLocked() {
		this.application.withBean(Evented.class).run((context) -> {
			context.publishEvent(new Event(this));
			assertThat(context.getBean(Evented.class).locked()).containsExactly(true);
		});
	}

	// Lazy beans

	static class First {

		@Autowired
		private Second second;

		@DistributedLock(key = "'first'")
		public boolean work() {
			return isLocked();
		}

		public Second second() {
			return this.second;
		}

	}

	static class Second {

		@Autowired
		private First first;

		public First first() {
			return this.first;
		}

	}

	@ParameterizedTest
	@ValueSource(booleans = { true, false })
	void beanInACycleIsLocked(boolean lazy) {
		initialized(lazy).withBean("first", First.class).withBean("second", Second.class).run((context) -> {
			First first = context.getBean(First.class);
			assertThat(first.work()).isTrue();
			assertThat(first.second().first()).isSameAs(first);
		});
	}

	@Test
	void lazyBeanInACycleIsRefusedWhenItIsCreated() {
		initialized(true).withBean("job", SelfJob.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertExplained(catchThrowable(() -> context.getBean("job")), "SelfJob.work() of bean 'job'");
		});
	}

	private ApplicationContextRunner initialized(boolean lazy) {
		return lazy ? this.application.withInitializer(
				(context) -> context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
				: this.application;
	}

	private static void assertRefused(ApplicationContextRunner application, String... text) {
		application.run((context) -> {
			assertThat(context).hasFailed();
			assertExplained(context.getStartupFailure(), text);
		});
	}

	private static void assertExplained(Throwable thrown, String... text) {
		Throwable failure = thrown;
		while (!(failure instanceof LockConfigurationException) && failure.getCause() != null) {
			failure = failure.getCause();
		}
		assertThat(failure).isInstanceOfSatisfying(LockConfigurationException.class,
				(found) -> assertThat(found.description() + " " + found.action()).contains(REASON).contains(text));
	}

}
