package io.github.holdfast.sample.wms.proof;

/**
 * The proof on PostgreSQL.
 */
class PostgresOversellProofIT extends AbstractOversellProof {

	@Override
	TestDatabase startDatabase() throws Exception {
		return TestDatabase.postgres();
	}

}
