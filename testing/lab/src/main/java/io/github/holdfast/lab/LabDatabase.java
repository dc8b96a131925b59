package io.github.holdfast.lab;

import org.springframework.jdbc.core.simple.JdbcClient;

/**
 * What the database knows of a run, whatever its nodes have said.
 */
record LabDatabase(JdbcClient jdbc) {

	/** Shares pieces among SKUs. */
	void create(String trial, int skus, long available) {
		for (int sku = 1; sku <= skus; sku++) {
			this.jdbc.sql("INSERT INTO lab_stock (sku, available) VALUES (?, ?)")
				.params(sku(trial, sku), available / skus + ((sku <= available % skus) ? 1 : 0))
				.update();
		}
	}

	/** The first SKU of a trial has its name, the others have a number, too. */
	static String sku(String trial, int sku) {
		return (sku == 1) ? trial : trial + "/" + sku;
	}

	long available(String trial) {
		return this.jdbc.sql("SELECT SUM(available) FROM lab_stock WHERE sku = :trial OR sku LIKE CONCAT(:trial, '/%')")
			.param("trial", trial)
			.query(Long.class)
			.single();
	}

	Sales sales(String trial) {
		return new Sales(this.jdbc.sql("""
				SELECT sku, n, quantity, read_available, read_changes, wrote_available, wrote_changes FROM lab_order
				WHERE sku = :trial OR sku LIKE CONCAT(:trial, '/%')""")
			.param("trial", trial)
			.query(Sales.Sale.class)
			.list());
	}

}
