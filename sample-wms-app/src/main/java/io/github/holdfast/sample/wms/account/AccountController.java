package io.github.holdfast.sample.wms.account;

import java.util.List;

import io.github.holdfast.sample.wms.account.AccountService.Deposit;
import io.github.holdfast.sample.wms.account.AccountService.Transfer;
import jakarta.validation.Valid;

import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RestController;

@RestController
@RequestMapping("/accounts")
class AccountController {

	private final AccountService accounts;

	AccountController(AccountService accounts) {
		this.accounts = accounts;
	}

	@PostMapping("/deposits")
	Account deposit(@Valid @RequestBody Deposit deposit) {
		return this.accounts.deposit(deposit);
	}

	@PostMapping("/transfers")
	List<Account> transfer(@Valid @RequestBody Transfer transfer) {
		return this.accounts.transfer(transfer);
	}

	@GetMapping("/{accountNo}")
	Account get(@PathVariable String accountNo) {
		return this.accounts.get(accountNo);
	}

}
