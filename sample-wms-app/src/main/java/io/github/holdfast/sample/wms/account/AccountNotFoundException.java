package io.github.holdfast.sample.wms.account;

/**
 * Thrown when there is no account of a number.
 */
public class AccountNotFoundException extends RuntimeException {

	private static final long serialVersionUID = 1L;

	/**
	 * Create a new exception.
	 * @param accountNo the number
	 */
	public AccountNotFoundException(String accountNo) {
		super("There is no account '" + accountNo + "'");
	}

}
