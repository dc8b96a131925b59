package io.github.holdfast.lab;

import java.util.List;
import java.util.Optional;
import java.util.Set;

import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * What the database knows of a run, whatever its nodes have said.
 */
final class LabDatabase {

	/**
	 * The first order that has overwritten what another one had written after both had
	 * read the same.
	 */
	private static final String LOST_UPDATE = """
			SELECT earlier.n AS earlier, later.n AS later
			FROM lab_order later JOIN lab_order earlier
			ON earlier.sku = later.sku AND earlier.wrote_changes = later.read_changes + 1
			WHERE (later.sku = :trial OR later.sku LIKE CONCAT(:trial, '/%')) AND later.wrote_changes > later.read_changes + 1
			AND later.wrote_available = later.read_available - later.quantity
			ORDER BY later.wrote_changes LIMIT 1""";

	/** The first order that has sold what was not there, and the one before it. */
	private static final String OVERSOLD = """
			SELECT earlier.n AS earlier, later.n AS later
			FROM lab_order later JOIN lab_order earlier
			ON earlier.sku = later.sku AND earlier.wrote_changes = later.wrote_changes - 1
			WHERE (later.sku = :trial OR later.sku LIKE CONCAT(:trial, '/%')) AND later.wrote_available < 0
			ORDER BY later.wrote_changes LIMIT 1""";

	private final JdbcClient jdbc;

	LabDatabase(JdbcClient jdbc) {
		this.jdbc = jdbc;
	}

	/**
	 * Shares pieces among SKUs.
	 * @param trial after which they are called
	 */
	void create(String trial, int skus, long available) {
		for (int sku = 1; sku <= skus; sku++) {
			this.jdbc.sql("INSERT INTO lab_stock (sku, available) VALUES (?, ?)")
				.params(sku(trial, sku), available / skus + ((sku <= available % skus) ? 1 : 0))
				.update();
		}
	}

	/**
	 * The first SKU of a trial has its name, the others have a number, too.
	 */
	static String sku(String trial, int sku) {
		return (sku == 1) ? trial : trial + "/" + sku;
	}

	long available(String trial) {
		return this.jdbc.sql("SELECT SUM(available) FROM lab_stock WHERE sku = :trial OR sku LIKE CONCAT(:trial, '/%')")
			.param("trial", trial)
			.query(Long.class)
			.single();
	}

	/**
	 * The orders that were sold.
	 */
	Set<Integer> sold(String trial) {
		return this.jdbc.sql("SELECT n FROM lab_order WHERE sku = :trial OR sku LIKE CONCAT(:trial, '/%')")
			.param("trial", trial)
			.query(Integer.class)
			.set();
	}

	Optional<Overlap> firstLostUpdate(String trial) {
		for (String sql : List.of(LOST_UPDATE, OVERSOLD)) {
			Optional<Overlap> overlap = this.jdbc.sql(sql).param("trial", trial).query(Overlap.class).optional();
			if (overlap.isPresent()) {
				return overlap;
			}
		}
		return Optional.empty();
	}

	/**
	 * Two orders that should not have overlapped.
	 *
	 * @param earlier the number of the order that wrote first
	 * @param later the number of the order that should have read that
	 */
	record Overlap(int earlier, int later) {
	}

}
