package io.github.holdfast.format;

import io.github.holdfast.testsupport.RequiresEtcd;

/**
 * The recorded format in etcd.
 */
@RequiresEtcd
class EtcdStoredFormatTests extends AbstractStoredFormatTests {

	@Override
	RecordedStore open() {
		return new RecordedStore.Etcd();
	}

}
