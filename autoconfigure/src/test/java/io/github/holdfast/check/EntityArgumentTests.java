package io.github.holdfast.check;

import java.util.stream.Stream;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.holdfast.autoconfigure.LockedApplication;
import io.github.holdfast.interceptor.TestCompiler;

import static org.assertj.core.api.Assertions.assertThat;

/** Entities that were read before the lock and are passed into a locked method. */
@ExtendWith(OutputCaptureExtension.class)
class EntityArgumentTests {

	private static final String WARNING = "Bean.pay(%s) takes an entity without a @Version";

	private static final String TYPES = """
			import java.util.List;
			import io.github.holdfast.DistributedLock;
			import jakarta.persistence.*;
			import org.hibernate.annotations.Immutable;
			@Entity class Order { @Id long id; }
			@MappedSuperclass class WithVersion { @Id long id; @Version long version; }
			@Entity class Versioned extends WithVersion { }
			@Entity class VersionedByMethod {
				@Id public long getId() { return 1; }
				@Version public long getVersion() { return 1; }
			}
			@Entity @Immutable class Country { @Id long id; }
			class Payments<T> { @DistributedLock("'payment'") public void pay(T payed) { } }
			""";

	/** Beans, and the type that the warning names. */
	private static final String WARNED = """
			Bean { @DistributedLock("#order.id") public void pay(Order order) { } public void look(Order order) { } }
			-> Order

			Bean { @DistributedLock("#orders.![id]") public void pay(List<Order> orders) { } }
			-> List

			Bean { @DistributedLock("#orders.![id]") public void pay(Order[] orders) { } }
			-> Order[]

			Bean extends Payments<Order> { }
			-> Object
			""";

	@ParameterizedTest
	@MethodSource
	void entityWithoutVersionIsWarnedOf(String source, CapturedOutput output) throws Exception {
		String[] parts = source.split("\n-> ");
		application(parts[0]).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce(WARNING.formatted(parts[1].strip())).contains("Pass the ID");
		});
	}

	static Stream<String> entityWithoutVersionIsWarnedOf() {
		return Stream.of(WARNED.split("\n\n"));
	}

	@Test
	void otherArgumentsAreNoMatter(CapturedOutput output) throws Exception {
		application("""
				Bean extends Payments<Long> {
					@DistributedLock("#order.id") public void versioned(Versioned order) { }
					@DistributedLock("#order.id") public void versionedByAMethod(VersionedByMethod order) { }
					@DistributedLock("#order.id") public void immutable(Country order) { }
				}""").run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain("takes an entity");
		});
	}

	private static ApplicationContextRunner application(String source) throws Exception {
		Class<?> bean = TestCompiler.compiled("Bean", TYPES + "class " + source, "-parameters");
		return LockedApplication.local().withClassLoader(bean.getClassLoader()).withBean(bean);
	}

}
