package io.github.holdfast.sample.wms.proof;

/**
 * The proof on MariaDB.
 */
class MariaDbOversellProofIT extends AbstractOversellProof {

	@Override
	TestDatabase startDatabase() {
		return TestDatabase.mariaDb();
	}

}
