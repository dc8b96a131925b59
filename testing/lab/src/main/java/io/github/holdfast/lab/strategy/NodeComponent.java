package io.github.holdfast.lab.strategy;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * A bean of the nodes that the lab starts, and of nothing else.
 */
@Component
@Profile("lab-node")
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface NodeComponent {

}
