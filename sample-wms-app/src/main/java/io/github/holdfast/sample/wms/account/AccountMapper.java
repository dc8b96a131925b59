package io.github.holdfast.sample.wms.account;

import org.apache.ibatis.annotations.Mapper;
import org.jspecify.annotations.Nullable;

/**
 * The statements on {@code account}. None of them guards itself: whoever writes holds the
 * lock of the account.
 */
@Mapper
public interface AccountMapper {

	@Nullable Account find(String accountNo);

	void insert(Account account);

	void update(Account account);

}
