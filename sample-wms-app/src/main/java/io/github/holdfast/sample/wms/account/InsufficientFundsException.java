package io.github.holdfast.sample.wms.account;

/**
 * Thrown when an account has not enough for a transfer; nothing has been moved.
 */
public class InsufficientFundsException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create a new exception.
	 * @param account the account
	 * @param amount how much was asked for
	 */
	public InsufficientFundsException(Account account, long amount) {
		super("Account '" + account.accountNo() + "' has " + account.balance() + ", less than " + amount);
	}

}
