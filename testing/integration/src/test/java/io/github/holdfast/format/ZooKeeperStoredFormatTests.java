package io.github.holdfast.format;

/**
 * The recorded format in ZooKeeper.
 */
class ZooKeeperStoredFormatTests extends AbstractStoredFormatTests {

	@Override
	RecordedStore open() {
		return new RecordedStore.ZooKeeper();
	}

}
