package io.github.holdfast.sample.wms.stock;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import io.github.holdfast.DistributedLock;

import org.springframework.core.annotation.AliasFor;

/** Locks stock while a method and its transaction run. */
@DistributedLock(name = "stock", key = "")
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface StockLock {

	/**
	 * The {@linkplain StockId#lockKey() lock key} of the stock, or several of them: a
	 * SpEL expression over the method's parameters.
	 */
	@AliasFor(annotation = DistributedLock.class, attribute = "key")
	String value();

}
