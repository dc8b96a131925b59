package io.github.holdfast.sample.wms.account;

import java.util.List;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.sample.wms.request.RequestIdReusedException;
import io.github.holdfast.sample.wms.request.Requests;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Moves money. Every change reads a balance, computes the new one and writes it, so it is
 * only correct under the lock of each account it touches. It is made once for each
 * request, under the lock of the request.
 */
@Service
public class AccountService {

	private final AccountMapper accounts;

	private final Requests requests;

	AccountService(AccountMapper accounts, Requests requests) {
		this.accounts = accounts;
		this.requests = requests;
	}

	/**
	 * Puts money into an account, which is opened if it is new.
	 * @param deposit how much, into which account
	 * @return the account after that
	 * @throws RequestIdReusedException if another request had this id
	 */
	@DistributedLock(name = "account", key = "{#deposit.lockKey, 'account:' + #deposit.accountNo}")
	@Transactional
	public Account deposit(Deposit deposit) {
		return this.requests.once(deposit, Account.class, () -> {
			Account account = this.accounts.find(deposit.accountNo());
			if (account == null) {
				Account opened = new Account(deposit.accountNo(), deposit.amount());
				this.accounts.insert(opened);
				return opened;
			}
			Account changed = account.plus(deposit.amount());
			this.accounts.update(changed);
			return changed;
		});
	}

	/**
	 * Moves money from one account to another. The locks are always taken in the same
	 * order, so two transfers in opposite directions do not wait for each other.
	 * @param transfer how much, from which account to which
	 * @return both accounts after that
	 * @throws AccountNotFoundException if one of them does not exist
	 * @throws InsufficientFundsException if the first one has not enough
	 * @throws RequestIdReusedException if another request had this id
	 */
	@DistributedLock(name = "account",
			key = "{#transfer.lockKey, 'account:' + #transfer.from, 'account:' + #transfer.to}")
	@Transactional
	public List<Account> transfer(Transfer transfer) {
		return List.of(this.requests.once(transfer, Account[].class, () -> {
			this.accounts.update(get(transfer.from()).minus(transfer.amount()));
			this.accounts.update(get(transfer.to()).plus(transfer.amount()));
			return new Account[] { get(transfer.from()), get(transfer.to()) };
		}));
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
