package io.github.holdfast.sample.wms.account;

import java.util.Optional;

import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Select;
import org.apache.ibatis.annotations.Update;

/**
 * The statements on {@code account}. They write computed balances without a condition on
 * the old ones, so callers hold the lock of the account.
 */
@Mapper
interface AccountMapper {

	@Select("select account_no, balance from account where account_no = #{accountNo}")
	Optional<Account> find(String accountNo);

	@Insert("insert into account (account_no, balance) values (#{accountNo}, #{balance})")
	void insert(Account account);

	@Update("update account set balance = #{balance} where account_no = #{accountNo}")
	void update(Account account);

}
