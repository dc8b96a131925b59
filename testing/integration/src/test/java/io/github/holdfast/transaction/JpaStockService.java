package io.github.holdfast.transaction;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;

import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;

/** Reads stock through JPA, computes, and writes the result. */
class JpaStockService {

	private final EntityManager entities;

	JpaStockService(EntityManager entities) {
		this.entities = entities;
	}

	int look(String sku) {
		return find(sku).quantity;
	}

	Stock find(String sku) {
		return this.entities.find(Stock.class, sku);
	}

	@Transactional
	public void add(String sku, int quantity) {
		this.entities.persist(new Stock(sku, quantity));
	}

	@DistributedLock(key = "'stock:' + #sku")
	@Transactional
	public int take(String sku) {
		return takeOne(sku);
	}

	private int takeOne(String sku) {
		Stock stock = find(sku);
		stock.quantity = stock.quantity - 1;
		return stock.quantity;
	}

	boolean isManaged(Stock stock) {
		return this.entities.contains(stock);
	}

	@Entity(name = "stock")
	public static class Stock {

		@Id
		private String sku = "";

		private int quantity;

		Stock() {
		}

		Stock(String sku, int quantity) {
			this.sku = sku;
			this.quantity = quantity;
		}

	}

}
