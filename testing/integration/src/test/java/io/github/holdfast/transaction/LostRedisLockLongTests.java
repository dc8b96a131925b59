package io.github.holdfast.transaction;

import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.Arguments;

import io.github.holdfast.testsupport.RedisStore;

/**
 * Redis forgets a lock or cannot be reached, beside the other databases.
 */
@Tag("long")
class LostRedisLockLongTests extends LostRedisLockTests {

	@Override
	Stream<Arguments> stores() {
		return RedisStore.onOtherDatabases();
	}

}
