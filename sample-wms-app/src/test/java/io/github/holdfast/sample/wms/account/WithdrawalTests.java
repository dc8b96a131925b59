package io.github.holdfast.sample.wms.account;

import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.FutureTask;

import io.github.holdfast.core.LockManager;
import io.github.holdfast.sample.wms.WmsApplication;
import io.github.holdfast.sample.wms.account.AccountService.Deposit;
import io.github.holdfast.sample.wms.account.AccountService.Transfer;
import io.github.holdfast.testsupport.DatabaseAccess;
import io.github.holdfast.testsupport.TestDatabase;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

import static org.assertj.core.api.Assertions.assertThat;

/** Two withdrawals: neither writes before both have read, unless a lock prevents it. */
@Timeout(180)
class WithdrawalTests {

	@ParameterizedTest
	@CsvSource({ "H2, true, 500", "H2, false, 700", "MARIADB, true, 500", "MARIADB, false, 700",
			"POSTGRESQL, true, 500", "POSTGRESQL, false, 700" })
	void withdrawalsOf200And300From1000Leave(TestDatabase type, boolean locks, long left) throws Exception {
		Meeting meeting = new Meeting();
		try (ConfigurableApplicationContext service = start(type.newDatabase(), locks, meeting)) {
			AccountService accounts = service.getBean(AccountService.class);
			accounts.deposit(new Deposit("D-1", "A", 1000));
			accounts.deposit(new Deposit("D-2", "B", 1));
			accounts.deposit(new Deposit("D-3", "C", 1));
			meeting.locks = service.getBeanProvider(LockManager.class).getIfAvailable();
			meeting.run(() -> accounts.transfer(new Transfer("T-1", "A", "B", 200)),
					() -> accounts.transfer(new Transfer("T-2", "A", "C", 300)));
			assertThat(accounts.get("A").balance()).isEqualTo(left);
		}
	}

	private static ConfigurableApplicationContext start(DatabaseAccess database, boolean locks, Meeting meeting) {
		return new SpringApplicationBuilder(WmsApplication.class).web(WebApplicationType.NONE)
			.initializers((context) -> context.getBeanFactory().addBeanPostProcessor(meeting))
			.run("--spring.datasource.url=" + database.url(), "--spring.datasource.username=" + database.user(),
					"--spring.datasource.password=" + database.password(), "--holdfast.enabled=" + locks,
					"--holdfast.wait-time=1m", "--wms.stock-report.cron=-", "--spring.main.lazy-initialization=true");
	}

	/** Stands between the service and the statements of MyBatis. */
	private static final class Meeting implements BeanPostProcessor {

		private final Set<Thread> haveRead = ConcurrentHashMap.newKeySet();

		private @Nullable LockManager locks;

		private @Nullable Withdrawal first;

		private @Nullable Withdrawal second;

		/** Runs both at the same time; if both have read, the second one writes last. */
		void run(Callable<?> first, Callable<?> second) throws Exception {
			this.first = new Withdrawal(first);
			this.second = new Withdrawal(second);
			this.first.thread.start();
			this.second.thread.start();
			this.first.task.get();
			this.second.task.get();
		}

		@Override
		public Object postProcessAfterInitialization(Object bean, String beanName) {
			return (bean instanceof AccountMapper accounts) ? new MeetingAccounts(accounts) : bean;
		}

		private void hasRead() {
			Withdrawal other = otherThanThisThread();
			if (other != null && this.haveRead.add(Thread.currentThread())) {
				Awaitility.await()
					.atMost(Duration.ofMinutes(1))
					.until(() -> this.haveRead.contains(other.thread) || isWaiting(other.thread));
			}
		}

		/** Waits for a lock that the other one holds. */
		private boolean isWaiting(Thread thread) {
			return this.locks != null && this.locks.snapshots()
				.stream()
				.anyMatch((lock) -> lock.holdTime() == null && lock.thread().equals(thread.getName()));
		}

		private void writes() {
			Withdrawal other = otherThanThisThread();
			if (other != null && other == this.first && this.haveRead.contains(other.thread)) {
				Awaitility.await().atMost(Duration.ofMinutes(1)).until(other.task::isDone);
			}
		}

		private @Nullable Withdrawal otherThanThisThread() {
			if (this.first == null || this.second == null) {
				return null;
			}
			return (this.first.thread == Thread.currentThread()) ? this.second : this.first;
		}

		private final class MeetingAccounts implements AccountMapper {

			private final AccountMapper accounts;

			MeetingAccounts(AccountMapper accounts) {
				this.accounts = accounts;
			}

			@Override
			public Optional<Account> find(String accountNo) {
				Optional<Account> account = this.accounts.find(accountNo);
				hasRead();
				return account;
			}

			@Override
			public void insert(Account account) {
				this.accounts.insert(account);
			}

			@Override
			public void update(Account account) {
				writes();
				this.accounts.update(account);
			}

		}

	}

	private static final class Withdrawal {

		private final FutureTask<?> task;

		private final Thread thread;

		Withdrawal(Callable<?> call) {
			this.task = new FutureTask<>(call);
			this.thread = new Thread(this.task);
			this.thread.setDaemon(true);
		}

	}

}
