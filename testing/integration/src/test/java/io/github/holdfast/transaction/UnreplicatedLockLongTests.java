package io.github.holdfast.transaction;

import java.util.stream.Stream;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.provider.Arguments;

import io.github.holdfast.testsupport.RedisStore;

/**
 * A Redis master fails before its replica knows of a lock, beside the other databases.
 */
@Tag("long")
class UnreplicatedLockLongTests extends UnreplicatedLockTests {

	@Override
	Stream<Arguments> stores() {
		return RedisStore.onOtherDatabases();
	}

}
