package io.github.holdfast.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.boot.autoconfigure.ImportAutoConfiguration;

/**
 * Gives a test {@link TestLocks}: locks in memory that do what the test tells them, in
 * place of those of the application, whatever backend it uses.
 *
 * <p>
 * Works with {@code @SpringBootTest} and with slices, which have no locks without it.
 * Commits are checked at the level {@code lease}, also if the application asks for
 * another one, and locks are on, also if {@code holdfast.enabled} is {@code false}.
 *
 * <p>
 * Each test method begins with locks that are free, and with nothing recorded.
 *
 * @since 0.2.0
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
public @interface AutoConfigureTestLocks {

}
