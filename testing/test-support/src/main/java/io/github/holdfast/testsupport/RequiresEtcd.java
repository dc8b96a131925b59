package io.github.holdfast.testsupport;

import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.EnabledIf;

/**
 * Reports a test, or a class of tests, as skipped where etcd is not installed. As the
 * default build needs nothing that has to be installed, it is one of the long tests.
 */
@Tag("long")
@EnabledIf(value = "io.github.holdfast.testsupport.EtcdServer#isInstalled", disabledReason = "etcd is not on the PATH")
@Target({ ElementType.TYPE, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Inherited
public @interface RequiresEtcd {

}
