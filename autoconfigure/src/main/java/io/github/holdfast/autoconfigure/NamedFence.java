package io.github.holdfast.autoconfigure;

import io.github.holdfast.fence.FenceTable;

/**
 * The fence table in the business database, for backends beside the default one.
 *
 * @param dataSource the business database
 */
record NamedFence(LockDataSource dataSource) {

	FenceTable table(String source) {
		return new FenceTable(this.dataSource, source);
	}

}
