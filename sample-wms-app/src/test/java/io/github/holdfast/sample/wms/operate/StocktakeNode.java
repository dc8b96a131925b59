package io.github.holdfast.sample.wms.operate;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

import io.github.holdfast.LockException;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.sample.wms.WmsApplication;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * A node of the service that takes stock: it reads what is in the books, waits for
 * somebody who counts, and writes what was counted. Between the two no transaction is
 * open, but the lock of the stock is held.
 */
final class StocktakeNode {

	private StocktakeNode() {
	}

	/**
	 * Takes stock of each SKU that comes in.
	 * @param args the arguments of the service
	 * @throws IOException if the input ends in the middle
	 */
	@SuppressWarnings("SystemOut")
	public static void main(String[] args) throws IOException {
		BufferedReader input = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
		try (ConfigurableApplicationContext node = new SpringApplicationBuilder(WmsApplication.class).run(args)) {
			LockTemplate locks = node.getBean(LockTemplate.class).withName("stocktake");
			JdbcClient jdbc = node.getBean(JdbcClient.class);
			TransactionTemplate transaction = new TransactionTemplate(node.getBean(PlatformTransactionManager.class));
			System.out.println("port " + node.getEnvironment().getRequiredProperty("local.server.port"));
			for (String key = input.readLine(); key != null; key = input.readLine()) {
				System.out.println(take(key, locks, jdbc, transaction, input));
			}
		}
	}

	@SuppressWarnings("SystemOut")
	private static String take(String key, LockTemplate locks, JdbcClient jdbc, TransactionTemplate transaction,
			BufferedReader input) throws IOException {
		String sku = key.substring(key.lastIndexOf(':') + 1);
		try {
			locks.run(key, () -> {
				System.out.println("counting " + jdbc.sql("select available_inventory from tb_inventory where sku = ?")
					.param(sku)
					.query(Integer.class)
					.single());
				int counted = Integer.parseInt(input.readLine());
				transaction.executeWithoutResult(
						(status) -> jdbc.sql("update tb_inventory set available_inventory = ? where sku = ?")
							.params(counted, sku)
							.update());
			});
			return "written";
		}
		catch (RuntimeException ex) {
			return "refused " + ((ex instanceof LockException) ? ex.getClass().getSimpleName() : ex);
		}
	}

}
