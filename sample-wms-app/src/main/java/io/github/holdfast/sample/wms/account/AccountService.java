package io.github.holdfast.sample.wms.account;

import java.util.List;

import io.github.holdfast.DistributedLock;
import io.github.holdfast.sample.wms.Code;
import io.github.holdfast.sample.wms.ProblemException;
import io.github.holdfast.sample.wms.request.Request;
import io.github.holdfast.sample.wms.request.Requests;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;

import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/**
 * Moves money. Each change reads balances, computes the new ones and writes them, so it
 * is correct only under the locks of its accounts.
 */
@Service
public class AccountService {

	private final AccountMapper accounts;

	private final Requests requests;

	AccountService(AccountMapper accounts, Requests requests) {
		this.accounts = accounts;
		this.requests = requests;
	}

	/** Puts money into an account, which is opened if it is new. */
	@DistributedLock(name = "account", key = "{#deposit.lockKey, 'account:' + #deposit.accountNo}")
	@Transactional
	public Account deposit(Deposit deposit) {
		return this.requests.once(deposit, Account.class, () -> {
			Account account = this.accounts.find(deposit.accountNo()).orElse(null);
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
	 * Moves money from one account to another. Locks are always taken in sorted order, so
	 * two transfers in opposite directions cannot deadlock.
	 */
	@DistributedLock(name = "account",
			key = "{#transfer.lockKey, 'account:' + #transfer.from, 'account:' + #transfer.to}")
	@Transactional
	public List<Account> transfer(Transfer transfer) {
		return List.of(this.requests.once(transfer, Account[].class, () -> {
			if (transfer.from().equals(transfer.to())) {
				throw ProblemException.conflict("same-account", "Both accounts are '" + transfer.from() + "'");
			}
			Account from = get(transfer.from()).minus(transfer.amount());
			Account to = get(transfer.to()).plus(transfer.amount());
			this.accounts.update(from);
			this.accounts.update(to);
			return new Account[] { from, to };
		}));
	}

	public Account get(String accountNo) {
		return this.accounts.find(accountNo)
			.orElseThrow(() -> ProblemException.notFound("unknown-account", "There is no account '" + accountNo + "'"));
	}

	public record Deposit(@Code String requestId, @Code String accountNo,
			@Min(1) @Max(1_000_000_000) long amount) implements Request {
	}

	public record Transfer(@Code String requestId, @Code String from, @Code String to,
			@Min(1) @Max(1_000_000_000) long amount) implements Request {
	}

}
