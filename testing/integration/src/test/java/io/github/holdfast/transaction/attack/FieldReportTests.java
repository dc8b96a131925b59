package io.github.holdfast.transaction.attack;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.function.Consumer;
import java.util.stream.IntStream;

import com.alibaba.druid.pool.DruidDataSource;
import com.baomidou.dynamic.datasource.DynamicRoutingDataSource;
import com.baomidou.dynamic.datasource.tx.TransactionContext;
import io.seata.core.context.RootContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockNotAcquiredException;
import io.github.holdfast.testsupport.AroundDataSources;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/** What users of other libraries have met. */
@Timeout(180)
@ExtendWith(OutputCaptureExtension.class)
class FieldReportTests {

	private static final String STARVED = "A lease can run out while its renewal waits for a connection";

	@Test
	void routerThatIsNotOfSpringIsRefusedUntilItsManagerIsNamed() {
		assertThatExceptionOfType(LockConfigurationException.class)
			.isThrownBy(() -> new Nodes(Database.H2, Router.class).close())
			.satisfies((ex) -> assertThat(ex.description()).contains(DynamicRoutingDataSource.class.getName()))
			.satisfies((ex) -> assertThat(ex.action()).contains("holdfast.transaction-managers.transactionManager"));
		try (Nodes nodes = new Nodes(Database.H2, Router.class, Wire.NAMED)) {
			sellTogether(nodes);
		}
	}

	@Test
	void transactionThatIsNotOfSpringIsAsRunningAsOneOfSpring() {
		try (Nodes nodes = new Nodes(Database.H2, Nodes.ALONE)) {
			refuses(nodes, TransactionContext::bind, TransactionContext::remove);
			refuses(nodes, RootContext::bind, RootContext::unbind);
			nodes.first.shop().locked(nodes.first::sell);
			assertThat(nodes.sales()).containsExactly(1);
		}
	}

	private static void refuses(Nodes nodes, Consumer<String> begin, Runnable end) {
		begin.accept("xid");
		try {
			for (Consumer<Runnable> call : List.<Consumer<Runnable>>of(nodes.first.shop()::locked,
					nodes.first.shop()::facade)) {
				assertThatExceptionOfType(IllegalStateException.class).isThrownBy(() -> call.accept(nodes.first::sell))
					.withMessageContaining("running transaction");
			}
			assertThat(nodes.sales()).isEmpty();
		}
		finally {
			end.run();
		}
	}

	/** The firewall does not know the dialect of H2. */
	@ParameterizedTest
	@EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "H2")
	void firewallOfDruidLetsAllStatementsPass(Database database) {
		try (Nodes nodes = new Nodes(database, Druid.class)) {
			sellTogether(nodes);
			assertBusyInside(nodes);
		}
	}

	@ParameterizedTest
	@ValueSource(strings = { "", "?useAffectedRows=true", "?useLocalSessionState=true&elideSetAutoCommits=true",
			"?rewriteBatchedStatements=true&useServerPrepStmts=true&cachePrepStmts=true",
			"?serverTimezone=America/St_Johns" })
	void driverOfMySqlGetsTransactionLocks(String options) {
		try (Nodes nodes = new Nodes(Database.CONNECTOR_J, "spring.datasource.url=${url}" + options)) {
			sellTogether(nodes);
			nodes.first.shop().locked(() -> assertThat(nodes.leases()).isZero());
			assertBusyInside(nodes);
		}
	}

	@Test
	void poolThatLetsTheLeaseOfOneMethodStarveIsTold(CapturedOutput output) {
		new Nodes(Database.H2, Nodes.ALONE).close();
		assertThat(output).as("a method has a lease of a second").contains(STARVED);
	}

	@ParameterizedTest
	@EnumSource(names = { "MARIADB", "CONNECTOR_J" })
	void newKeysAndWaitsProvokeNoErrorsThatTheDriverWarnsOf(Database database, CapturedOutput output) {
		try (Nodes nodes = new Nodes(database, "spring.datasource.hikari.connection-timeout=300")) {
			sellTogether(nodes);
			Nodes.together(4, (thread) -> {
				Nodes.Node node = (thread % 2 == 0) ? nodes.first : nodes.second;
				for (int key = 0; key < 10; key++) {
					node.shop().lockedAll(List.of("new:" + key), node::count);
					node.locks().run("newer:" + key, node::count);
				}
			});
			assertThat(output).doesNotContain("org.mariadb.", "com.mysql.", "1062", "1205", "WARN", "ERROR",
					"not eligible for getting processed");
		}
	}

	/**
	 * Both nodes sell by transaction locks and by leases, of which each waits for others.
	 */
	private static void sellTogether(Nodes nodes) {
		Nodes.together(4, (thread) -> {
			Nodes.Node node = (thread % 2 == 0) ? nodes.first : nodes.second;
			for (int i = 0; i < 4; i++) {
				if (thread < 2) {
					node.shop().locked(node::sell);
				}
				else {
					node.shop().facade(() -> node.transaction().executeWithoutResult((status) -> node.sell()));
				}
			}
		});
		assertThat(nodes.sales()).containsExactlyElementsOf(IntStream.rangeClosed(1, 16).boxed().toList());
	}

	/** One attempt of the other node, which does not wait. */
	private static void assertBusyInside(Nodes nodes) {
		nodes.first.shop()
			.locked(() -> assertThatExceptionOfType(CompletionException.class)
				.isThrownBy(() -> Nodes
					.async(() -> nodes.second.locks().withWaitTime(Duration.ZERO).run("stock", nodes.second::sell))
					.join())
				.withCauseInstanceOf(LockNotAcquiredException.class));
	}

	@Configuration(proxyBeanMethods = false)
	static class Router {

		@Bean
		static BeanPostProcessor routing() {
			return new AroundDataSources((pool) -> {
				DynamicRoutingDataSource router = new DynamicRoutingDataSource(List.of(() -> Map.of("master", pool)));
				router.afterPropertiesSet();
				return router;
			});
		}

	}

	@Configuration(proxyBeanMethods = false)
	static class Druid {

		@Bean
		DruidDataSource dataSource(Environment environment) throws SQLException {
			DruidDataSource pool = new DruidDataSource();
			pool.setUrl(environment.getProperty("url"));
			pool.setUsername(environment.getProperty("spring.datasource.username"));
			pool.setPassword(environment.getProperty("spring.datasource.password"));
			pool.setFilters("stat,wall");
			return pool;
		}

	}

}
