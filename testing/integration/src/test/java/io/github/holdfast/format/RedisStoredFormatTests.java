package io.github.holdfast.format;

/**
 * The recorded format in Redis.
 */
class RedisStoredFormatTests extends AbstractStoredFormatTests {

	@Override
	RecordedStore open() {
		return new RecordedStore.Redis();
	}

}
