package io.github.holdfast.test;

import java.util.Collection;

import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.LockLostException;

@SpringBootApplication(proxyBeanMethods = false)
@EnableResilientMethods
class StockApplication {

	@Service
	static class StockService {

		private final JdbcClient jdbc;

		StockService(JdbcClient jdbc) {
			this.jdbc = jdbc;
		}

		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public int deduct(String sku, int quantity) {
			return change(sku, -quantity);
		}

		@Retryable(includes = LockLostException.class, delay = 1)
		@DistributedLock(key = "'stock:' + #sku")
		@Transactional
		public int deductSurely(String sku, int quantity) {
			return change(sku, -quantity);
		}

		@DistributedLock(key = "#skus.!['stock:' + #this]")
		@Transactional
		public void deductAll(Collection<String> skus) {
			skus.forEach((sku) -> change(sku, -1));
		}

		/** Has forgotten its lock. */
		@Transactional
		public int correct(String sku, int difference) {
			return change(sku, difference);
		}

		@Transactional(readOnly = true)
		public int available(String sku) {
			return this.jdbc.sql("SELECT available FROM stock WHERE sku = ?").param(sku).query(Integer.class).single();
		}

		private int change(String sku, int difference) {
			int left = available(sku) + difference;
			this.jdbc.sql("UPDATE stock SET available = ? WHERE sku = ?").params(left, sku).update();
			return left;
		}

	}

}
