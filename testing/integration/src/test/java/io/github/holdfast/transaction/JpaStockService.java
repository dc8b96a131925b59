package io.github.holdfast.transaction;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityManager;
import jakarta.persistence.Id;

import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;

/**
 * Reads stock through JPA, computes, and writes the result.
 */
class JpaStockService {

	private final EntityManager entities;

	JpaStockService(EntityManager entities) {
		this.entities = entities;
	}

	int look(String sku) {
		return find(sku).quantity;
	}

	/**
	 * Changes an entity outside of any transaction.
	 */
	void change(String sku, int quantity) {
		find(sku).quantity = quantity;
	}

	Stock find(String sku) {
		return this.entities.find(Stock.class, sku);
	}

	@Transactional
	public void add(String sku, int quantity) {
		this.entities.persist(new Stock(sku, quantity));
	}

	@Transactional
	public void inTransaction(Runnable work) {
		work.run();
	}

	@Transactional(propagation = Propagation.SUPPORTS)
	public void inScopeWithoutTransaction(Runnable work) {
		work.run();
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

	@DistributedLock(key = "'stock:' + #sku")
	@Transactional
	public int takeAnd(String sku, Runnable whileHeld) {
		int quantity = takeOne(sku);
		whileHeld.run();
		return quantity;
	}

	@DistributedLock(key = "'stock:' + #sku")
	@Transactional(propagation = Propagation.REQUIRES_NEW)
	public int takeInNewTransaction(String sku) {
		return takeOne(sku);
	}

	@DistributedLock(key = "'stock:' + #sku")
	@Transactional(propagation = Propagation.NOT_SUPPORTED)
	public int lookOutsideOfTransaction(String sku) {
		return look(sku);
	}

	@DistributedLock(key = "'stock:' + #sku")
	public int lookWithoutTransaction(String sku) {
		return look(sku);
	}

	@DistributedLock(key = "'stock:' + #stock.sku")
	@Transactional
	public void takeFrom(Stock stock) {
		stock.quantity = stock.quantity - 1;
	}

	@DistributedLock(key = "'stock:' + #stock.sku")
	@Transactional
	public void takeAndSave(Stock stock) {
		stock.quantity = stock.quantity - 1;
		this.entities.merge(stock);
	}

	@DistributedLock(key = "'stock:' + #stock.sku")
	@Transactional
	public void save(Stock stock) {
		this.entities.merge(stock);
	}

	@DistributedLock(key = "'stock:' + #stock.sku")
	@Transactional
	public int takeAnew(Stock stock) {
		return takeOne(stock.sku);
	}

	@DistributedLock(key = "'stock:' + #stock.sku")
	public void takeFromWithoutTransaction(Stock stock) {
		stock.quantity = stock.quantity - 1;
	}

	@DistributedLock(key = "'stock:' + #sku")
	public void takeWithoutTransaction(String sku) {
		find(sku).quantity--;
	}

	@DistributedLock(key = "'stock:' + #sku")
	@Transactional
	public Stock reference(String sku) {
		return this.entities.getReference(Stock.class, sku);
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

		public String getSku() {
			return this.sku;
		}

		public int getQuantity() {
			return this.quantity;
		}

		void add() {
			this.quantity++;
		}

	}

}
