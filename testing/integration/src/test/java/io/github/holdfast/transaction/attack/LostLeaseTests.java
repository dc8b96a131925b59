package io.github.holdfast.transaction.attack;

import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.BeforeParameterizedClassInvocation;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.transaction.ConfigurableTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.LockLostAfterWorkException;
import io.github.holdfast.LockLostException;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** A lease ends behind the back of its holder, and another one works meanwhile. */
@ParameterizedClass(name = "{0}, beside the database: {1}")
@MethodSource("places")
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
@Timeout(180)
class LostLeaseTests {

	@Parameter(0)
	private Database database;

	/** The lease is in another store, and the database has a row that stands for it. */
	@Parameter(1)
	private boolean beside;

	private final ForgetfulStore store = new ForgetfulStore();

	private Nodes nodes;

	static Stream<Arguments> places() {
		return Stream.of(Database.values())
			.flatMap((database) -> Stream.of(false, true).map((beside) -> Arguments.of(database, beside)));
	}

	@BeforeParameterizedClassInvocation
	void start() {
		this.nodes = new Nodes(this.database, this.beside ? this.store : "holdfast.jdbc.mode=lease",
				"holdfast.commit-guard=fence");
	}

	@AfterParameterizedClassInvocation
	void stop() {
		this.nodes.close();
	}

	@AfterEach
	void clear() {
		this.nodes.execute("DELETE FROM sale");
	}

	@Test
	void supersededHolderCannotCommitAtFenceWhateverItsTransactionIs() {
		Shop shop = this.nodes.first.shop();
		List<Runnable> calls = List.of(() -> {
			beforeNextBegin(this::workOfAnother);
			shop.locked(this.nodes.first::sell);
		}, () -> {
			beforeNextBegin(this::workOfAnother);
			shop.neverRolledBack(this.nodes.first::sell);
		}, () -> this.nodes.first.transaction().executeWithoutResult((outer) -> {
			beforeNextBegin(this::workOfAnother);
			shop.inNewTransaction(this.nodes.first::sell);
		}));
		for (int i = 0; i < calls.size(); i++) {
			assertThatExceptionOfType(LockLostException.class).isThrownBy(calls.get(i)::run)
				.withMessageContaining("'stock'");
			assertThat(this.nodes.sales()).hasSize(i + 1).doesNotHaveDuplicates();
		}
	}

	@Test
	void whatAnotherTransactionOfTheCallHasCommittedBeforeStays() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.nodes.first.shop().facade(() -> {
			sellInTransaction();
			workOfAnother();
			sellInTransaction();
		})).withMessageContaining("so only this transaction is rolled back");
		assertThat(this.nodes.sales()).containsExactly(1, 2);
	}

	@Test
	void expiredButNotSupersededHolderCommitsAtFence() {
		beforeNextBegin(this::expire);
		this.nodes.first.shop().locked(this.nodes.first::sell);
		assertThat(this.nodes.sales()).containsExactly(1);
	}

	@Test
	void deletedRowRejectsTheCommit() {
		assertThatExceptionOfType(LockLostException.class).isThrownBy(() -> this.nodes.first.shop().facade(() -> {
			this.nodes.execute("DELETE FROM holdfast_lock");
			sellInTransaction();
		}));
		assertThat(this.nodes.sales()).isEmpty();
	}

	@Test
	void callThatHasCommittedNothingIsToldThatOtherWorkMayHaveOverlapped() {
		TransactionTemplate readOnly = this.nodes.first.transaction();
		readOnly.setReadOnly(true);
		Shop shop = this.nodes.first.shop();
		for (Runnable call : List.<Runnable>of(() -> shop.reading(this::workOfAnother),
				() -> shop.facade(this::workOfAnother), () -> shop.facade(() -> {
					readOnly.executeWithoutResult((status) -> this.nodes.first.count());
					workOfAnother();
				}))) {
			assertThatExceptionOfType(LockLostAfterWorkException.class).isThrownBy(call::run);
		}
	}

	private void beforeNextBegin(Runnable action) {
		AtomicReference<Runnable> next = new AtomicReference<>(action);
		this.nodes.first.context()
			.getBean(ConfigurableTransactionManager.class)
			.addListener(new TransactionExecutionListener() {
				@Override
				public void beforeBegin(TransactionExecution transaction) {
					next.getAndSet(() -> {
					}).run();
				}
			});
	}

	private void sellInTransaction() {
		this.nodes.first.transaction().executeWithoutResult((status) -> this.nodes.first.sell());
	}

	/** The lease runs out in its store, and the other node gets the lock and sells. */
	private void workOfAnother() {
		expire();
		Nodes.async(() -> this.nodes.second.shop().locked(this.nodes.second::sell)).join();
	}

	private void expire() {
		if (this.beside) {
			this.store.forget();
		}
		else {
			this.nodes.execute("UPDATE holdfast_lock SET expires_at = 1");
		}
	}

}
