package io.github.holdfast.transaction;

import java.util.concurrent.CompletableFuture;

import javax.sql.DataSource;

import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;
import org.apache.ibatis.session.ExecutorType;
import org.apache.ibatis.session.SqlSessionFactory;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.mybatis.spring.SqlSessionFactoryBean;
import org.mybatis.spring.SqlSessionTemplate;

import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.testsupport.LockedApplication;
import io.github.holdfast.testsupport.ResourcelessTransactionManager;
import io.github.holdfast.testsupport.TestDatabase;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * A session of MyBatis that is bound to the thread before the lock is taken answers from
 * its local cache, and may gather statements that it sends later.
 */
class MyBatisSessionTests {

	@Tag("F56")
	@ParameterizedTest
	@EnumSource(ExecutorType.class)
	void answersFromBeforeTheLockAreForgotten(ExecutorType type) {
		run(type, "reject", (stock, jdbc) -> {
			stock.lookAndTakeWithoutTransaction();
			assertThat(quantity(jdbc)).isEqualTo(98);
		});
	}

	@Tag("F56")
	@ParameterizedTest
	@EnumSource(ExecutorType.class)
	void answersFromBeforeTheLockAreForgottenInsideOfATransaction(ExecutorType type) {
		run(type, "release-after-completion", (stock, jdbc) -> {
			stock.lookAndTakeInside();
			assertThat(quantity(jdbc)).isEqualTo(98);
		});
	}

	/**
	 * Else the next query of the same session would send it, when the lock is free.
	 */
	@Tag("F56")
	@ParameterizedTest
	@EnumSource(ExecutorType.class)
	void statementsAreSentBeforeTheLockIsGivenBack(ExecutorType type) {
		run(type, "reject", (stock, jdbc) -> {
			stock.takeAndLookLater();
			assertThat(quantity(jdbc)).isEqualTo(98);
		});
	}

	/**
	 * As in a step of Spring Batch.
	 */
	@Tag("F56")
	@ParameterizedTest
	@EnumSource(ExecutorType.class)
	void statementsAreSentInATransactionWithoutResources(ExecutorType type) {
		run(type, "reject", (stock, jdbc) -> {
			new TransactionTemplate(new ResourcelessTransactionManager())
				.executeWithoutResult((status) -> stock.takeAndLookLater());
			assertThat(quantity(jdbc)).isEqualTo(98);
		});
	}

	private static int quantity(JdbcTemplate jdbc) {
		Integer quantity = jdbc.queryForObject("SELECT quantity FROM stock", Integer.class);
		return (quantity != null) ? quantity : -1;
	}

	private static void run(ExecutorType type, String policy, Check check) {
		ApplicationContextRunner application = LockedApplication.jdbc(TestDatabase.H2.newDatabase())
			.withPropertyValues("holdfast.on-active-transaction=" + policy, "executor-type=" + type)
			.withUserConfiguration(Config.class);
		application.run((context) -> {
			JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
			jdbc.execute("CREATE TABLE stock (quantity integer)");
			jdbc.update("INSERT INTO stock VALUES (100)");
			check.run(context.getBean(Requests.class), jdbc);
		});
	}

	private interface Check {

		void run(Requests requests, JdbcTemplate jdbc);

	}

	interface StockMapper {

		@Select("SELECT quantity FROM stock")
		int quantity();

		@Update("UPDATE stock SET quantity = #{quantity}")
		int update(@Param("quantity") int quantity);

	}

	@Configuration(proxyBeanMethods = false)
	static class Config {

		@Bean
		SqlSessionFactoryBean sqlSessionFactory(DataSource dataSource) {
			SqlSessionFactoryBean factory = new SqlSessionFactoryBean();
			factory.setDataSource(dataSource);
			return factory;
		}

		@Bean
		StockMapper stockMapper(SqlSessionFactory factory,
				@org.springframework.beans.factory.annotation.Value("${executor-type}") ExecutorType type) {
			factory.getConfiguration().addMapper(StockMapper.class);
			return new SqlSessionTemplate(factory, type).getMapper(StockMapper.class);
		}

		@Bean
		Stock stock(StockMapper mapper) {
			return new Stock(mapper);
		}

		@Bean
		Requests requests(StockMapper mapper, Stock stock) {
			return new Requests(mapper, stock);
		}

	}

	static class Requests {

		private final StockMapper mapper;

		private final Stock stock;

		Requests(StockMapper mapper, Stock stock) {
			this.mapper = mapper;
			this.stock = stock;
		}

		@Transactional(propagation = Propagation.SUPPORTS)
		public void lookAndTakeWithoutTransaction() {
			this.mapper.quantity();
			CompletableFuture.runAsync(this.stock::take).join();
			this.stock.takeWithoutTransaction();
		}

		@Transactional
		public void lookAndTakeInside() {
			this.mapper.quantity();
			CompletableFuture.runAsync(this.stock::take).join();
			this.stock.take();
		}

		@Transactional(propagation = Propagation.SUPPORTS)
		public void takeAndLookLater() {
			this.stock.takeWithoutTransaction();
			CompletableFuture.runAsync(this.stock::take).join();
			this.mapper.quantity();
		}

	}

	static class Stock {

		private final StockMapper mapper;

		Stock(StockMapper mapper) {
			this.mapper = mapper;
		}

		@DistributedLock(key = "'stock'", waitTime = "60s")
		public void takeWithoutTransaction() {
			this.mapper.update(this.mapper.quantity() - 1);
		}

		@DistributedLock(key = "'stock'", waitTime = "60s")
		@Transactional
		public void take() {
			this.mapper.update(this.mapper.quantity() - 1);
		}

	}

}
