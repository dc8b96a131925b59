package io.github.holdfast.lab;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of the lab.
 *
 * @param leaseTime how soon others get a lock whose holder has died or stands still
 */
@ConfigurationProperties("lab")
record LabProperties(@DefaultValue("false") boolean allowRemote, @DefaultValue("1500ms") Duration leaseTime,
		@DefaultValue("5s") Duration waitTime) {
}
