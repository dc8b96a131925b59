package io.github.holdfast.sample.wms.account;

import java.util.List;

import io.github.holdfast.DistributedLock;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Moves money. Every change reads a balance, computes the new one and writes it, so it is
 * only correct under the lock of each account it touches.
 */
@Service
public class AccountService {

	private final AccountMapper accounts;

	AccountService(AccountMapper accounts) {
		this.accounts = accounts;
	}

	/**
	 * Puts money into an account, which is opened if it is new.
	 * @param accountNo the account
	 * @param amount how much, in cents
	 * @return the account after that
	 */
	@DistributedLock(name = "account", key = "'account:' + #accountNo")
	@Transactional
	public Account deposit(String accountNo, long amount) {
		Account account = this.accounts.find(accountNo);
		if (account == null) {
			Account opened = new Account(accountNo, amount);
			this.accounts.insert(opened);
			return opened;
		}
		Account changed = account.plus(amount);
		this.accounts.update(changed);
		return changed;
	}

	/**
	 * Moves money from one account to another. The locks of both are always taken in the
	 * same order, so two transfers in opposite directions do not wait for each other.
	 * @param from who pays
	 * @param to who is paid
	 * @param amount how much, in cents
	 * @return both accounts after that
	 * @throws AccountNotFoundException if one of them does not exist
	 * @throws InsufficientFundsException if the first one has not enough
	 */
	@DistributedLock(name = "account", key = "{'account:' + #from, 'account:' + #to}")
	@Transactional
	public List<Account> transfer(String from, String to, long amount) {
		this.accounts.update(get(from).minus(amount));
		this.accounts.update(get(to).plus(amount));
		return List.of(get(from), get(to));
	}

	/**
	 * Reads an account.
	 * @param accountNo the account
	 * @return the account
	 * @throws AccountNotFoundException if it does not exist
	 */
	public Account get(String accountNo) {
		Account account = this.accounts.find(accountNo);
		if (account == null) {
			throw new AccountNotFoundException(accountNo);
		}
		return account;
	}

}
