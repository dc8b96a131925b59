package io.github.holdfast.autoconfigure;

import java.sql.SQLException;

import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.sql.SqlDialect;

/**
 * Fails the start when the fence table is not there, or not to be written, after all
 * migrations have run.
 */
class FenceTableCheck extends TableCheck {

	static final Table TABLE = new Table("holdfast_fence", "fence", LockProperties.Fence.SCRIPT, "holdfast.fence");

	private final FenceTable fenceTable;

	FenceTableCheck(FenceTable fenceTable) {
		super(TABLE);
		this.fenceTable = fenceTable;
	}

	@Override
	SqlDialect dialect() throws SQLException {
		return this.fenceTable.dialect();
	}

	@Override
	void checkTable() throws SQLException {
		this.fenceTable.checkTable();
	}

	@Override
	void checkWritable() throws SQLException {
		this.fenceTable.checkWritable();
	}

}
