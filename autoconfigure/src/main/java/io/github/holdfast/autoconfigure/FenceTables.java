package io.github.holdfast.autoconfigure;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.fence.FenceTable;

/**
 * The rows of the fence table, for one store after the other.
 */
final class FenceTables {

	private final LockDataSource dataSource;

	private final Set<String> sources = ConcurrentHashMap.newKeySet();

	FenceTables(LockDataSource dataSource) {
		this.dataSource = dataSource;
	}

	/**
	 * The rows of a store. Stores count their epochs apart, so that one would keep out
	 * the holders of another one with the same source.
	 */
	FenceTable of(String source) {
		FenceTable table;
		try {
			table = new FenceTable(this.dataSource, source);
		}
		catch (IllegalArgumentException ex) {
			throw new LockConfigurationException("The name of the LockBackend bean '" + source
					+ "' cannot be its name in the fence table: " + ex.getMessage() + ".", "Rename the bean.", ex);
		}
		if (!this.sources.add(source)) {
			throw new LockConfigurationException(
					"Two lock backends have the same name in the fence table, '" + source + "'.",
					"Rename the LockBackend bean '" + source + "', or set 'holdfast.fence.source', which names the "
							+ "default backend, to another one; the same on all nodes.");
		}
		return table;
	}

}
