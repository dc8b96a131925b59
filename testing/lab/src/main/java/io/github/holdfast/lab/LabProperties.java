package io.github.holdfast.lab;

import java.time.Duration;

import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The settings of the lab.
 *
 * @param allowRemote whether other machines may use it
 * @param leaseTime how soon others get a lock whose holder has died or stands still
 * @param waitTime how long an order waits for others
 */
@ConfigurationProperties("lab")
record LabProperties(@DefaultValue("false") boolean allowRemote, @DefaultValue("1500ms") Duration leaseTime,
		@DefaultValue("5s") Duration waitTime) {
}
