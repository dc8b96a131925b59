package io.github.holdfast.benchmarks.overhead;

import org.springframework.transaction.annotation.Transactional;

import io.github.holdfast.DistributedLock;

/**
 * A method that does next to nothing, so that a measurement shows what is around it.
 */
class Stock {

	private long deducted;

	long deduct(String sku, int quantity) {
		this.deducted += quantity;
		return this.deducted;
	}

	static class Locked extends Stock {

		@Override
		@DistributedLock(key = "'inventory:' + #sku")
		public long deduct(String sku, int quantity) {
			return super.deduct(sku, quantity);
		}

	}

	static class InTransaction extends Stock {

		@Override
		@Transactional
		public long deduct(String sku, int quantity) {
			return super.deduct(sku, quantity);
		}

	}

	static class LockedInTransaction extends Stock {

		@Override
		@DistributedLock(key = "'inventory:' + #sku")
		@Transactional
		public long deduct(String sku, int quantity) {
			return super.deduct(sku, quantity);
		}

	}

}
