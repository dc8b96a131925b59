package io.github.holdfast.check;

import java.util.Arrays;
import java.util.stream.Stream;

import io.github.holdfast.interceptor.TestCompiler;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockContext;
import io.github.holdfast.autoconfigure.LockedApplication;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

/** Calls of a locked method on the own object, found in the class files of a bean. */
@ExtendWith(OutputCaptureExtension.class)
class SelfCallTests {

	/** What the beans below extend. */
	private static final String SUPERCLASSES = """
			import java.util.List;
			import java.util.function.*;
			import io.github.holdfast.*;
			import org.springframework.aop.framework.AopContext;
			import org.springframework.context.annotation.*;
			abstract class Stock {
				@DistributedLock(key = "'stock:' + #sku")
				public boolean deduct(String sku) { return true; }
			}
			class Plain extends Stock {
				public boolean confirm(String sku) { return deduct(sku); }
			}
			abstract class TemplateMethod {
				public boolean confirm(String sku) { return work(sku); }
				protected abstract boolean work(String sku);
			}
			abstract class GenericTemplate<T> {
				public boolean confirm(T item) { return work(item); }
				protected abstract boolean work(T item);
			}
			interface Confirming {
				@DistributedLock(key = "#p0") boolean deduct(String sku);
				default boolean confirm(String sku) { return deduct(sku); }
			}
			abstract class Handler<T> {
				@DistributedLock(key = "'doc:' + #document")
				public boolean handle(T document) { return true; }
			}
			""";

	/** Beans with a call that takes no lock, and what the message says of it. */
	private static final String REFUSED = """
			Bean extends Stock { public boolean confirm(String sku) { return deduct(sku); } }
			-> Bean.confirm calls Bean.deduct(String)

			Bean extends Stock {
				public boolean confirm(String sku) { return confirmAtOnce(sku); }
				private boolean confirmAtOnce(String sku) { return deduct(sku); }
			}
			-> Bean.confirmAtOnce calls

			Bean extends Stock { public Supplier<Boolean> confirm(String sku) { return () -> deduct(sku); } }
			-> Bean.confirm calls

			Bean extends Stock { public void confirm(List<String> skus) { skus.forEach(this::deduct); } }
			-> Bean.confirm calls

			Bean extends Stock { public void confirm(List<String> skus) { skus.forEach(super::deduct); } }
			-> Bean.confirm calls

			Bean extends Stock { public Bean() { deduct("A"); } }
			-> Bean.<init> calls

			Bean extends Stock { public boolean confirm(String sku) { Bean stock = this; return stock.deduct(sku); } }
			-> Bean.confirm calls

			Bean extends Stock { public boolean confirm(String sku) { return super.deduct(sku); } }
			-> Bean.confirm calls

			Bean {
				@DistributedLock(key = "'stock:' + #sku")
				public boolean deduct(String sku, int quantity) { return true; }
				public boolean deduct(String sku) { return deduct(sku, 1); }
			}
			-> Bean.deduct calls

			Bean extends Stock {
				@DistributedLock(key = "'order:' + #sku")
				public boolean confirm(String sku) { return deduct(sku); }
			}
			-> Bean.confirm calls

			Bean extends Stock {
				private final long[] numbers = new long[3];
				private double sum;
				public boolean confirm(String sku, int choice) {
					this.numbers[choice]++;
					this.sum += (this.numbers[0] > 3L) ? 1.5 : this.numbers[1] * 2;
					String text = switch (choice) {
						case 0 -> sku;
						case 1 -> sku + choice;
						default -> {
							try { yield String.valueOf(Long.parseLong(sku) >>> 3); }
							catch (NumberFormatException ex) { yield ex.getMessage(); }
						}
					};
					for (int i = 0; i < choice; i++) {
						synchronized (this) {
							text = text + new int[2][3].length + (this instanceof Stock) + this.sum;
						}
					}
					return choice > 3 && deduct((text.length() > 5) ? text : sku);
				}
			}
			-> Bean.confirm calls

			Bean extends TemplateMethod {
				@Override @DistributedLock(key = "#sku") protected boolean work(String sku) { return true; }
			}
			-> TemplateMethod.confirm calls Bean.work(String)

			Bean extends GenericTemplate<String> {
				@Override @DistributedLock(key = "#sku") protected boolean work(String sku) { return true; }
			}
			-> GenericTemplate.confirm calls

			Bean implements Confirming { @Override public boolean deduct(String sku) { return true; } }
			-> Confirming.confirm calls

			Bean extends Plain {
				@Override public boolean confirm(String sku) { return super.confirm(sku); }
			}
			-> Plain.confirm calls

			Bean {
				@DistributedLock(key = "'all'", mode = LockMode.SHARED) public boolean count() { return true; }
				@DistributedLock(key = "'all'") public boolean close() { return count(); }
			}
			-> Bean.close calls Bean.count()
			""";

	private static final String ACCEPTED = """
			Bean extends Stock {
				private final Bean self;
				public Bean(@Lazy Bean self) { this.self = self; }
				public boolean confirm(String sku) {
					Bean target = this;
					if (this.self != null) {
						target = this.self;
					}
					return ((this.self != null) ? this.self : this).deduct(sku) && target.deduct(sku);
				}
			}

			Bean extends Stock {
				public boolean confirm(String sku) { return ((Bean) AopContext.currentProxy()).deduct(sku); }
			}

			Bean extends Stock {
				@Override public boolean deduct(String sku) { return super.deduct(sku); }
				public boolean confirm(Stock other, String sku) { return other.deduct(sku); }
			}

			Bean extends Handler<String> {
				@Override public boolean handle(String document) { return super.handle(document); }
			}

			Bean extends Plain { @Override public boolean confirm(String sku) { return true; } }

			Bean {
				@DistributedLock(key = "'tree'")
				public int walk(int depth) { return (depth > 0) ? walk(depth - 1) + 1 : 0; }
				@DistributedLock(key = "'tree'")
				public int walkAll() { return walk(3); }
			}

			Bean {
				@DistributedLock(key = "'tree:' + #node")
				public int walk(String node) { return node.isEmpty() ? 0 : walkAll(node) + 1; }
				@DistributedLock(key = "'tree:' + #node")
				public int walkAll(String node) { return walk(node.substring(1)); }
			}

			Bean {
				@DistributedLock(key = "#sku") public boolean deduct(String sku) { return work(sku); }
				public boolean deduct(Integer sku) { return work(sku.toString()); }
				public boolean confirm() { return deduct(1); }
				private boolean work(String sku) { return !sku.isEmpty(); }
			}

			Bean extends Stock {
				public void confirm(List<? extends Stock> others, Consumer<Stock> consumer) {
					others.forEach((other) -> other.deduct("A"));
					consumer.accept(this);
				}
				static boolean confirm(Bean other) { return other.deduct("A"); }
			}
			""";

	@ParameterizedTest
	@MethodSource("refused")
	void callOnTheOwnObjectFailsTheStart(String source) throws Exception {
		String[] parts = source.split("\n-> ");
		LockedApplication.assertRefused(application(parts[0]), "bean 'stock'", "past the proxy", parts[1].strip(),
				"'holdfast.startup-checks'");
	}

	static Stream<String> refused() {
		return Arrays.stream(REFUSED.split("\n\n"));
	}

	@Test
	void callInAConfigurationFailsTheStart() throws Exception {
		LockedApplication.assertRefused(application("""
				Bean {
					@org.springframework.context.annotation.Bean String confirmed() { return prepare(); }
					@DistributedLock(key = "'a'") String prepare() { return ""; }
				}""", "@Configuration "), "bean 'stock'", "past the proxy", " calls ", "'holdfast.startup-checks'");
	}

	@ParameterizedTest
	@MethodSource("accepted")
	void otherCallsAreAccepted(String source) throws Exception {
		application(source).run((context) -> assertThat(context).hasNotFailed());
	}

	static Stream<String> accepted() {
		return Arrays.stream(ACCEPTED.split("\n\n"));
	}

	private static ApplicationContextRunner application(String source, String... annotations) throws Exception {
		Class<?> bean = TestCompiler.compiled("Bean", SUPERCLASSES + String.join("", annotations) + "class " + source,
				"-parameters", "-g");
		return LockedApplication.local().withClassLoader(bean.getClassLoader()).withBean("stock", bean);
	}

	static class Plain {

		@DistributedLock(key = "'stock:' + #sku")
		public boolean deduct(String sku) {
			return LockContext.current().isPresent();
		}

		public boolean confirm(String sku) {
			return deduct(sku);
		}

	}

	@Test
	void nestedClassesAreNamedWithTheirOuterClass() {
		LockedApplication.assertRefused(LockedApplication.local().withBean(Plain.class),
				"SelfCallTests.Plain.confirm calls SelfCallTests.Plain.deduct(String)");
	}

	@Test
	void warningIsLoggedIfThatIsAskedFor(CapturedOutput output) {
		LockedApplication.local()
			.withPropertyValues("holdfast.startup-checks=warn")
			.withBean("stock", Plain.class)
			.run((context) -> {
				assertThat(context).hasNotFailed();
				assertThat(context.getBean(Plain.class).confirm("A")).isFalse();
			});
		assertThat(output).contains("WARN", "bean 'stock'", "Plain.confirm", "take no lock");
	}

	@Test
	void prototypeIsRefusedWhenItIsMade() {
		LockedApplication.local()
			.withBean("stock", Plain.class, Plain::new, (definition) -> definition.setScope("prototype"))
			.run((context) -> LockedApplication.assertRefused(catchThrowable(() -> context.getBean("stock")),
					"Plain.confirm"));
	}

}
