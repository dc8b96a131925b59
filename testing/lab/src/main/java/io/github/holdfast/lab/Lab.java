package io.github.holdfast.lab;

/**
 * What all runs use.
 */
record Lab(LabServers servers, LabNodes nodes, LabDatabase database, NodeClient client, LabProperties properties) {

	int waitMs() {
		return (int) this.properties.waitTime().toMillis();
	}

}
