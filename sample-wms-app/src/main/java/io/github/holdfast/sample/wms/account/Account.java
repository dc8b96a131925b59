package io.github.holdfast.sample.wms.account;

import io.github.holdfast.sample.wms.ProblemException;

/** An account of a customer. */
public record Account(String accountNo, long balance) {

	Account plus(long amount) {
		return new Account(this.accountNo, Math.addExact(this.balance, amount));
	}

	Account minus(long amount) {
		if (this.balance < amount) {
			throw ProblemException.conflict("insufficient-funds",
					"Account '" + this.accountNo + "' has " + this.balance + ", less than " + amount);
		}
		return new Account(this.accountNo, this.balance - amount);
	}

}
