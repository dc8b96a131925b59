package io.github.holdfast.sample.wms.account;

/**
 * The account of a customer. Its balance is never below zero.
 *
 * @param accountNo its number
 * @param balance what is in it, in cents
 */
public record Account(String accountNo, long balance) {

	Account plus(long amount) {
		return new Account(this.accountNo, Math.addExact(this.balance, amount));
	}

	Account minus(long amount) {
		if (this.balance < amount) {
			throw new InsufficientFundsException(this, amount);
		}
		return new Account(this.accountNo, this.balance - amount);
	}

}
