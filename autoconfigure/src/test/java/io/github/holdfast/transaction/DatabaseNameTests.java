package io.github.holdfast.transaction;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What start-up messages tell about a database.
 */
class DatabaseNameTests {

	@ParameterizedTest
	@CsvSource(delimiter = '|', textBlock = """
			jdbc:h2:mem:shop                                            | jdbc:h2:mem:shop
			jdbc:h2:file:~/shop;USER=anna;PASSWORD=secret               | jdbc:h2:file:~/shop
			jdbc:postgresql://db:5432/shop                              | jdbc:postgresql://db:5432/shop
			jdbc:postgresql://db1,db2:5432/shop?user=anna&password=p@ss | jdbc:postgresql://db1,db2:5432/shop
			jdbc:mariadb://localhost/shop?user=anna&password=secret     | jdbc:mariadb://localhost/shop
			jdbc:mysql://anna:secret@db:3306/shop                       | jdbc:mysql://db:3306/shop
			jdbc:mysql:replication://anna:secret@db/shop                | jdbc:mysql:replication://db/shop
			jdbc:mysql://anna:se;cret@db/shop                           | jdbc:mysql:…
			jdbc:mysql://anna:se@cret@db/shop                           | jdbc:mysql:…
			jdbc:mysql://address=(host=db)(user=anna)(password=x)/shop  | jdbc:mysql:…
			jdbc:mysql://anna:secret@(host=db,password=secret)/shop     | jdbc:mysql:…
			jdbc:sqlserver://db:1433;user=anna;password=secret          | jdbc:sqlserver://db:1433
			jdbc:sqlserver://db;user=anna@corp;password=secret          | jdbc:sqlserver:…
			jdbc:db2://db:50000/shop:user=anna;password=secret;         | jdbc:db2:…
			jdbc:oracle:thin:anna/secret@//db:1521/shop                 | jdbc:oracle:…
			jdbc:teradata://db/USER=anna,PASSWORD=secret                | jdbc:teradata:…
			unheard-of:anna:secret@db                                   | …
			""")
	void credentialsAreNotTold(String url, String name) {
		assertThat(DatabaseName.withoutCredentials(url)).isEqualTo(name);
	}

}
