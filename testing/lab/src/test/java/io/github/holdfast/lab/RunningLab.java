package io.github.holdfast.lab;

import java.util.Objects;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;

import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

import io.github.holdfast.lab.strategy.OrderView;

import static org.assertj.core.api.Assertions.assertThat;

/** A lab that is used over HTTP, and its database, with which it is compared. */
@SpringBootTest(webEnvironment = SpringBootTest.WebEnvironment.RANDOM_PORT)
@ActiveProfiles("lab")
@DirtiesContext
@Tag("long")
abstract class RunningLab {

	@LocalServerPort
	int port;

	@Autowired
	JdbcClient jdbc;

	LabClient lab;

	@BeforeEach
	void setUp() {
		this.lab = new LabClient(this.port);
	}

	/** Each sale that was overwritten counts once, whatever the stock says in the end. */
	void figuresAreThoseOfTheDatabase(Run.View run) {
		String trial = "run-" + run.id() + ":" + run.strategy();
		Trial.Facts facts = Objects.requireNonNull(run.facts());
		assertThat(facts.sold()).isEqualTo(sum("COUNT(*) FROM lab_order", trial));
		assertThat(facts.stockAfter()).isEqualTo(sum("SUM(available) FROM lab_stock", trial));
		long pieces = sum("COALESCE(SUM(quantity), 0) FROM lab_order", trial);
		assertThat(facts.reallyLeft()).isEqualTo(facts.stockBefore() - pieces);
		assertThat(facts.oversold()).isEqualTo(Math.max(0, pieces - facts.stockBefore()));
		assertThat(facts.lostUpdates()).isEqualTo(sum("COUNT(*) FROM lab_order erased", trial) - sum("""
				COUNT(*) FROM lab_order erased WHERE NOT EXISTS (SELECT 1 FROM lab_order later
				WHERE later.sku = erased.sku AND later.wrote_changes > erased.wrote_changes
				AND later.read_changes < erased.wrote_changes
				AND later.wrote_available = later.read_available - later.quantity) AND""", trial));
		this.lab.orders(run.id())
			.stream()
			.filter((order) -> order.outcome() == OrderView.Outcome.SOLD)
			.forEach((order) -> assertThat(
					sum("COUNT(*) FROM lab_order WHERE n = " + order.n() + " AND wrote_available = " + order.wrote()
							+ " AND wrote_changes = " + order.wroteChanges() + " AND", trial))
				.isEqualTo(1));
		Trial.LostUpdate lost = this.lab.lostUpdate(run.id()).getBody();
		assertThat(lost != null).isEqualTo(facts.lostUpdates() > 0 || facts.oversold() > 0);
		if (lost != null && facts.lostUpdates() > 0) {
			long wrote = change("wrote_changes", trial, lost.second().n());
			long read = change("read_changes", trial, lost.second().n());
			assertThat(lost.overwritten()).isEqualTo(wrote - read - 1);
			assertThat(lost.stockBefore())
				.isEqualTo(sum("wrote_available FROM lab_order WHERE wrote_changes = " + (wrote - 1) + " AND", trial));
			assertThat(lost.first().wroteChanges()).isEqualTo(read + 1);
			assertThat(lost.second().wroteChanges()).isEqualTo(wrote);
		}
	}

	private long change(String column, String trial, int order) {
		return sum(column + " FROM lab_order WHERE n = " + order + " AND", trial);
	}

	/** A number of all SKUs of a trial. */
	private long sum(String select, String trial) {
		String sql = "SELECT " + select + (select.endsWith("AND") ? "" : " WHERE")
				+ " (sku = :trial OR sku LIKE CONCAT(:trial, '/%'))";
		return this.jdbc.sql(sql).param("trial", trial).query(Long.class).single();
	}

}
