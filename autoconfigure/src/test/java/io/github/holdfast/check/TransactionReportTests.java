package io.github.holdfast.check;

import java.util.List;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the start tells of locked methods and the transactions around or inside of them.
 */
@ExtendWith(OutputCaptureExtension.class)
class TransactionReportTests {

	private static final String WITHOUT = "Locked methods that declare no transaction";

	private static final String INSIDE = "is transactional and calls";

	private final ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
		.withBean(Stock.class);

	// Locked methods without a transaction

	@Test
	void lockedMethodsWithoutTransactionAreListedOnce(CapturedOutput output) {
		this.application.withBean("jobs", Jobs.class)
			.withBean("sameJobs", Jobs.class)
			.run((context) -> assertThat(output).containsOnlyOnce(WITHOUT)
				.contains("[TransactionReportTests.Jobs.clean(), TransactionReportTests.Jobs.report(String)]"));
	}

	@Test
	void nothingIsListedWhereAllLockedMethodsHaveATransaction(CapturedOutput output) {
		this.application.run((context) -> assertThat(output).doesNotContain(WITHOUT));
	}

	@Test
	void nothingIsListedWithoutTransactionManager(CapturedOutput output) {
		LockedApplication.local().withBean(Jobs.class).run((context) -> assertThat(output).doesNotContain(WITHOUT));
	}

	// Transactional callers

	@Test
	void transactionalCallersOfLockedMethodsAreWarnedOf(CapturedOutput output) {
		this.application.withBean(Checkout.class).run((context) -> {
			assertThat(context).hasNotFailed();
			assertThat(output).containsOnlyOnce("Transactional methods call locked ones")
				.contains("Checkout.checkout " + INSIDE + " TransactionReportTests.Stock.deduct(String) "
						+ "(TransactionReportTests.java:")
				.contains("Checkout.all " + INSIDE, "Checkout.each " + INSIDE, "Checkout.byHelper " + INSIDE)
				.doesNotContain("Checkout.apart", "Checkout.without", "Checkout.locked", "Checkout.suspended");
		});
	}

	@Test
	void callersByAnInterfaceAreFoundToo(CapturedOutput output) {
		this.application.withBean(ByInterface.class)
			.withBean(Shelf.class)
			.run((context) -> assertThat(output)
				.contains("ByInterface.move " + INSIDE + " TransactionReportTests.Shelf.put(String)"));
	}

	@Test
	void callersAreNoMatterWhereTheLockIsKeptUntilTheirEnd(CapturedOutput output) {
		this.application.withBean(Checkout.class)
			.withPropertyValues("holdfast.on-active-transaction=release-after-completion")
			.run((context) -> assertThat(output).doesNotContain(INSIDE));
	}

	static class Jobs {

		@DistributedLock(key = "'report:' + #day")
		public void report(String day) {
		}

		@DistributedLock(key = "'clean'")
		public void clean() {
		}

	}

	static class Stock {

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public void deduct(String sku) {
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void deductApart(String sku) {
		}

		public void deduct(String sku, int quantity) {
		}

	}

	static class Checkout {

		private final Stock stock;

		Checkout(Stock stock) {
			this.stock = stock;
		}

		@Transactional
		public void checkout(String sku) {
			this.stock.deduct(sku);
		}

		@Transactional
		public void all(List<String> skus) {
			skus.forEach(this.stock::deduct);
		}

		@Transactional
		public void each(List<String> skus) {
			skus.forEach((sku) -> this.stock.deduct(sku));
		}

		@Transactional
		public void byHelper(String sku) {
			helper(sku);
		}

		private void helper(String sku) {
			this.stock.deduct(sku);
		}

		@Transactional
		public void apart(String sku) {
			this.stock.deductApart(sku);
			this.stock.deduct(sku, 1);
		}

		public void without(String sku) {
			this.stock.deduct(sku);
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public void locked(String sku) {
			this.stock.deduct(sku);
		}

		@Transactional(propagation = Propagation.NOT_SUPPORTED)
		public void suspended(String sku) {
			this.stock.deduct(sku);
		}

	}

	interface Place {

		void put(String sku);

	}

	static class Shelf implements Place {

		@Override
		@DistributedLock(key = "'shelf:' + #sku")
		public void put(String sku) {
		}

	}

	static class ByInterface {

		private final Place place;

		ByInterface(Shelf place) {
			this.place = place;
		}

		@Transactional
		public void move(String sku) {
			this.place.put(sku);
		}

	}

}
