package io.github.holdfast.lab;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * What all runs use.
 */
record Lab(LabServers servers, LabNodes nodes, LabDatabase database, NodeClient client, Properties properties) {

	int waitMs() {
		return (int) this.properties.waitTime().toMillis();
	}

	/**
	 * The settings of the lab.
	 *
	 * @param leaseTime how soon others get a lock whose holder has died or stands still
	 */
	@ConfigurationProperties("lab")
	record Properties(@DefaultValue("false") boolean allowRemote, @DefaultValue("1500ms") Duration leaseTime,
			@DefaultValue("5s") Duration waitTime) {
	}

}
