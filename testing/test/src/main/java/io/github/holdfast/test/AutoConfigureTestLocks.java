package io.github.holdfast.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * Replaces the locks of an application under test with {@link TestLocks}: locks in memory
 * that a test controls.
 *
 * <p>
 * Works with {@code @SpringBootTest} and with test slices, which have no locks without
 * this annotation. It sets {@code holdfast.enabled} to {@code true} and
 * {@code holdfast.commit-guard} to {@code lease}, whatever the application configures,
 * and switches handovers off.
 *
 * <p>
 * Each test method begins with free locks and empty records.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@TestPropertySource(
		properties = { "holdfast.enabled=true", "holdfast.commit-guard=lease", "holdfast.handover-limit=0" })
public @interface AutoConfigureTestLocks {

}
