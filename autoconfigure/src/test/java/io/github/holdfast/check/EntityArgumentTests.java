package io.github.holdfast.check;

import java.util.List;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.MappedSuperclass;
import jakarta.persistence.Version;
import org.hibernate.annotations.Immutable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.autoconfigure.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;

/** Entities that were read before the lock and are passed into a locked method. */
@ExtendWith(OutputCaptureExtension.class)
class EntityArgumentTests {

	private static final String FOUND = "takes an entity without a @Version";

	private final ApplicationContextRunner application = LockedApplication.local();

	@ParameterizedTest
	@ValueSource(classes = { Plain.class, Several.class, OfArray.class, Generic.class })
	void entityWithoutVersionIsWarnedOf(Class<?> service, CapturedOutput output) {
		this.application.withBean(service).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce(FOUND).contains(service.getSimpleName() + ".pay(", "Pass the ID");
		});
	}

	@Test
	void otherArgumentsAreNoMatter(CapturedOutput output) {
		this.application.withBean(Harmless.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).doesNotContain(FOUND);
		});
	}

	static class Plain {

		@DistributedLock(key = "'order:' + #order.id")
		public void pay(Order order) {
		}

		public void look(Order order) {
		}

	}

	static class Several {

		@DistributedLock(key = "#orders.![id]")
		public void pay(List<Order> orders) {
		}

	}

	static class OfArray {

		@DistributedLock(key = "#orders.![id]")
		public void pay(Order[] orders) {
		}

	}

	static class OfAnything<T> {

		@DistributedLock(key = "'payment'")
		public void pay(T payed) {
		}

	}

	static class Generic extends OfAnything<Order> {

	}

	static class Harmless extends OfAnything<Long> {

		@DistributedLock(key = "'order:' + #order.id")
		public void versioned(Versioned order) {
		}

		@DistributedLock(key = "'order:' + #order.id")
		public void versionedByAMethod(VersionedByMethod order) {
		}

		@DistributedLock(key = "'order:' + #order.id")
		public void immutable(Country order) {
		}

	}

	@Entity
	public static class Order {

		@Id
		public long id;

	}

	@MappedSuperclass
	public abstract static class WithVersion {

		@Id
		public long id;

		@Version
		public long version;

	}

	@Entity
	public static class Versioned extends WithVersion {

	}

	@Entity
	public static class VersionedByMethod {

		@Id
		public long getId() {
			return 1;
		}

		@Version
		public long getVersion() {
			return 1;
		}

	}

	@Entity
	@Immutable
	public static class Country {

		@Id
		public long id;

	}

}
