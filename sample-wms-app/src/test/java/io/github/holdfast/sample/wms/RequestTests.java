package io.github.holdfast.sample.wms;

import java.util.List;
import java.util.UUID;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What the service does with a request that is sent again and again.
 */
interface RequestTests {

	Warehouse warehouse();

	LockDatabase database();

	@ParameterizedTest
	@EnumSource
	default void repeatAtTheSameTimeIsDoneOnce(Kind kind) throws Exception {
		kind.prepare(warehouse());
		List<Answer> answers = send(kind, newId());
		assertThat(answers).extracting(Answer::status).containsOnly(200);
		assertThat(answers).containsOnly(answers.get(0));
		assertThat(kind.done(warehouse(), database())).isEqualTo(1);
	}

	@ParameterizedTest
	@EnumSource
	default void sameContentWithOtherIdIsDoneAgain(Kind kind) {
		kind.prepare(warehouse());
		assertThat(send(kind, newId(), 1).status()).isEqualTo(200);
		assertThat(send(kind, newId(), 1).status()).isEqualTo(200);
		assertThat(kind.done(warehouse(), database())).isEqualTo(2);
	}

	@ParameterizedTest
	@EnumSource
	default void otherContentWithSameIdIsRefused(Kind kind) {
		kind.prepare(warehouse());
		String requestId = newId();
		send(kind, requestId, 1);
		Answer answer = send(kind, requestId, 2);
		assertThat(answer.status()).isEqualTo(409);
		assertThat(answer.<String>read("$.type")).isEqualTo("urn:problem:wms:request-id-reused");
		assertThat(answer.<String>read("$.detail")).contains(requestId, "nothing was changed");
		assertThat(kind.done(warehouse(), database())).isEqualTo(1);
	}

	/**
	 * No lock but that of the request keeps these apart.
	 */
	@ParameterizedTest
	@EnumSource(names = { "RECEIPT", "DEPOSIT" })
	default void sameIdForOtherThingsAtTheSameTimeIsDoneOnce(Kind kind) throws Exception {
		for (int round = 0; round < 5; round++) {
			String requestId = newId();
			List<Answer> answers = Clients.call(16, (i) -> Answer
				.whenServed(() -> warehouse().post(kind.path, kind.content(requestId, warehouse(), 1, "A" + i))));
			assertThat(answers).extracting(Answer::status).containsOnlyOnce(200).containsOnly(200, 409);
		}
	}

	/**
	 * Sends the same request, sixteen times at once.
	 */
	default List<Answer> send(Kind kind, String requestId) throws Exception {
		return Clients.call(16, (i) -> send(kind, requestId, 1));
	}

	private Answer send(Kind kind, String requestId, int quantity) {
		return Answer
			.whenServed(() -> warehouse().post(kind.path, kind.content(requestId, warehouse(), quantity, "A")));
	}

	static String newId() {
		return "R-" + UUID.randomUUID();
	}

	/**
	 * What clients ask for.
	 */
	enum Kind {

		/** Adds to stock. */
		RECEIPT("/inventory/receipts",
				"""
						{"requestId": "%1$s", "customerNo": "%2$s", "warehouseCode": "W1", "sku": "%4$s", "quantity": %3$d}""") {

			@Override
			void prepare(Warehouse warehouse) {
				warehouse.receive("A", PLENTY);
			}

			@Override
			long done(Warehouse warehouse, LockDatabase database) {
				return warehouse.available("A") - PLENTY;
			}

		},

		/** Adds to a balance. */
		DEPOSIT("/accounts/deposits", """
				{"requestId": "%1$s", "accountNo": "%2$s.%4$s", "amount": %3$d}""") {

			@Override
			void prepare(Warehouse warehouse) {
				accounts(warehouse).deposit("A", PLENTY);
			}

			@Override
			long done(Warehouse warehouse, LockDatabase database) {
				return accounts(warehouse).balance("A") - PLENTY;
			}

		},

		/** Takes from a balance. */
		TRANSFER("/accounts/transfers", """
				{"requestId": "%1$s", "from": "%2$s.A", "to": "%2$s.B", "amount": %3$d}""") {

			@Override
			void prepare(Warehouse warehouse) {
				accounts(warehouse).deposit("A", PLENTY);
				accounts(warehouse).deposit("B", PLENTY);
			}

			@Override
			long done(Warehouse warehouse, LockDatabase database) {
				return PLENTY - accounts(warehouse).balance("A");
			}

		},

		/** Creates an order. */
		SUBMISSION("/orders/submissions", """
				{"requestId": "%1$s", "customerNo": "%2$s", "warehouseCode": "W1",
				 "lines": [{"sku": "A", "quantity": %3$d}]}""") {

			@Override
			void prepare(Warehouse warehouse) {
			}

			@Override
			long done(Warehouse warehouse, LockDatabase database) {
				return database.orders(warehouse.customerNo());
			}

		},

		/** Takes from stock. */
		PURCHASE("/purchases", """
				{"requestId": "%1$s", "buyerNo": "%1$s", "customerNo": "%2$s", "warehouseCode": "W1", "sku": "A",
				 "quantity": %3$d}""") {

			@Override
			void prepare(Warehouse warehouse) {
				warehouse.receive("A", PLENTY);
			}

			@Override
			long done(Warehouse warehouse, LockDatabase database) {
				return PLENTY - warehouse.available("A");
			}

		};

		private static final int PLENTY = 1_000_000;

		private final String path;

		private final String content;

		Kind(String path, String content) {
			this.path = path;
			this.content = content;
		}

		abstract void prepare(Warehouse warehouse);

		/**
		 * How often it was done.
		 */
		abstract long done(Warehouse warehouse, LockDatabase database);

		private String content(String requestId, Warehouse warehouse, int quantity, String what) {
			return this.content.formatted(requestId, warehouse.customerNo(), quantity, what);
		}

		private static AccountTests accounts(Warehouse warehouse) {
			return () -> warehouse;
		}

	}

}
