package io.github.holdfast.chaos;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import org.jspecify.annotations.Nullable;

import org.springframework.jdbc.core.JdbcTemplate;

/**
 * The business data. Each sale of an account reads its version and writes the next one,
 * and is a row with the version and the token of its lock. Accounts whose name begins
 * with {@code row} have their version in a row that is updated; those of all others is
 * that of their last sale, so that two transactions which meet have no row in common and
 * the database cannot notice.
 */
record Accounts(JdbcTemplate jdbc) {

	/** The end of the names of sales that are made by inner transactions. */
	static final String INNER = "-inner";

	static void create(JdbcTemplate jdbc) {
		jdbc.execute("CREATE TABLE account (id varchar(40) NOT NULL PRIMARY KEY, version bigint NOT NULL)");
		jdbc.execute("""
				CREATE TABLE sale (account varchar(40) NOT NULL, version bigint NOT NULL, token bigint,
				id varchar(80) NOT NULL)""");
		jdbc.execute("CREATE INDEX sale_version ON sale (account, version)");
		jdbc.execute("CREATE TABLE crossing (id int NOT NULL PRIMARY KEY, visits bigint NOT NULL)");
		jdbc.update("INSERT INTO crossing VALUES (0, 0), (1, 0)");
		PlanSource.KEYS.stream()
			.filter(Accounts::hasRow)
			.forEach((id) -> jdbc.update("INSERT INTO account VALUES (?, 0)", id));
	}

	static boolean hasRow(String account) {
		return account.startsWith("row") && !account.contains("/");
	}

	long read(String account) {
		Long version = this.jdbc.queryForObject(hasRow(account) ? "SELECT version FROM account WHERE id = ?"
				: "SELECT COALESCE(max(version), 0) FROM sale WHERE account = ?", Long.class, account);
		return (version != null) ? version : -1;
	}

	void write(Sale sale) {
		if (hasRow(sale.account)) {
			this.jdbc.update("UPDATE account SET version = ? WHERE id = ?", sale.version, sale.account);
		}
		this.jdbc.update("INSERT INTO sale (account, version, token, id) VALUES (?, ?, ?, ?)", sale.account,
				sale.version, sale.token, sale.id);
	}

	/** Locks two rows one after the other, in an order that others do not keep. */
	void cross(int first) {
		for (int id : new int[] { first, 1 - first }) {
			this.jdbc.update("UPDATE crossing SET visits = visits + 1 WHERE id = ?", id);
		}
	}

	/** All sales that were committed, by account and in the order of their versions. */
	Map<String, List<Sale>> sales() {
		Map<String, List<Sale>> sales = new TreeMap<>();
		this.jdbc.query("SELECT account, version, token, id FROM sale ORDER BY account, version", (rs) -> {
			Sale sale = new Sale(rs.getString(1), rs.getLong(2), rs.getObject(3, Long.class), rs.getString(4));
			sales.computeIfAbsent(sale.account(), (account) -> new ArrayList<>()).add(sale);
		});
		return sales;
	}

	/** A sale: what it wrote, and the token of its lock. */
	record Sale(String account, long version, @Nullable Long token, String id) {

		String call() {
			return this.id.substring(0, this.id.indexOf('/'));
		}

		boolean isInner() {
			return this.id.endsWith(INNER);
		}

	}

}
