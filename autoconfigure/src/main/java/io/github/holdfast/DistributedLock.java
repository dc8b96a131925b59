package io.github.holdfast;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.springframework.aot.hint.annotation.Reflective;
import org.springframework.core.annotation.AliasFor;

/**
 * Runs a method under a distributed lock that is taken before the method's transaction
 * begins and released after that transaction has ended. With the backend {@code jdbc} the
 * transaction takes the lock itself where it can, by its first statement, and its commit
 * is the release.
 *
 * <p>
 * By default the caller waits for the time of {@code holdfast.wait-time} and gets a
 * {@link LockNotAcquiredException} if another holder kept the lock for that long. With
 * {@link #onBusy()} set to {@link OnBusy#SKIP SKIP} the method is skipped instead, with a
 * {@link #fallbackMethod()} another method runs in its place.
 *
 * <pre class="code">
 * &#64;DistributedLock(key = "'inventory:' + #sku")
 * &#64;Transactional
 * public void confirm(String sku, int quantity) { ... }</pre>
 *
 * <p>
 * A nested call for a key that the same call chain already holds proceeds at once. The
 * annotation works on methods that are called through their Spring proxy: public,
 * protected or package-private, not final, not static, and not on {@code this} or on
 * objects that are no beans, such as Quartz jobs that are only autowired. It may be
 * declared on an interface method, and composed into annotations of your own with
 * {@link org.springframework.core.annotation.AliasFor @AliasFor}. Methods that return
 * before their work is done ({@code Future}, {@code CompletionStage}, reactive types) are
 * refused at start-up.
 *
 * <p>
 * <b>What is not protected:</b> HTTP calls, messages, files, a second database and
 * threads that the method starts.
 *
 * @see LockTemplate
 * @see LockContext#current()
 */
@Target({ ElementType.METHOD, ElementType.ANNOTATION_TYPE })
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Reflective
public @interface DistributedLock {

	/**
	 * Alias of {@link #key()}.
	 */
	@AliasFor("key")
	String value() default "";

	/**
	 * The key of the lock, as a SpEL expression over the method's parameters: by name
	 * ({@code #sku}), by position ({@code #p0}) and over beans ({@code @tenant.id}).
	 * Methods with equal keys exclude each other, whatever class they are in, on all
	 * nodes that share a store and {@code holdfast.key-prefix}.
	 * <p>
	 * Keys are compared character by character. A database may find the same row for
	 * texts that are different keys: the default collations of MariaDB and MySQL ignore
	 * letter case and trailing blanks. Lock the number of the row, or bring the text into
	 * one form first: {@code "'stock:' + #sku.strip().toUpperCase()"}.
	 * <p>
	 * A collection or an array gives several locks, all or none, taken in sorted order
	 * and each only once: {@code "#lines.!['inventory:' + sku]"}. An empty collection
	 * needs no lock; more than 1000 different keys are refused.
	 * <p>
	 * A null or blank key, a null element, a null part of a concatenation, an object that
	 * has no text form of its own or one that lists its components, as of a record, and
	 * the sum of two numbers are refused with an {@link IllegalArgumentException}.
	 */
	@AliasFor("value")
	String key() default "";

	/**
	 * The name of this lock for logs, messages and the overrides of
	 * {@code holdfast.locks}. It is not part of the key. Default: {@code Class.method},
	 * of the interface where that is implemented by Spring Data or MyBatis. Accepts
	 * <code>${...}</code>.
	 */
	String name() default "";

	/**
	 * How long to wait for all keys together, including the time in local queues. Zero
	 * means exactly one attempt. A store that does not answer, or a connection pool that
	 * is exhausted, is given up after its own time-out, which may be longer. Default:
	 * {@code holdfast.wait-time}. Accepts {@code "500ms"}, {@code "2s"}, ISO-8601
	 * ({@code "PT2S"}) and <code>${...}</code>.
	 */
	String waitTime() default "";

	/**
	 * How soon others get the lease after this JVM has died. The lease is renewed while
	 * the method runs, so it need not be as long as the method. Transaction locks of the
	 * backend {@code jdbc} have no lease. Default: {@code holdfast.lease-time}. Accepts
	 * the same forms as {@link #waitTime()}.
	 */
	String leaseTime() default "";

	/**
	 * How long the lease is renewed at most; after that it runs out. A transaction that
	 * is open then keeps its row until it ends, so others wait for it. A time below a
	 * third of the lease time is no renewal at all, so that the lease ends with its own
	 * time. Without effect on locks that have no lease, such as those of the backend
	 * {@code local}. Default: as long as the method runs. Accepts the same forms as
	 * {@link #waitTime()}.
	 */
	String maxHoldTime() default "";

	/**
	 * How long the lock is held at least, counted from its acquisition: if the method
	 * ends earlier, with or without an exception, the lock stays behind for the rest of
	 * the time, for callers in this JVM as well. So a scheduled job is not run again by a
	 * node whose clock is late. Must not be longer than {@link #maxHoldTime()}. Without
	 * effect on a nested call for keys that are held already. ShedLock calls it
	 * {@code lockAtLeastFor}. Default: none, so the lock is released when the method
	 * ends. Accepts the same forms as {@link #waitTime()}.
	 */
	String minHoldTime() default "";

	/**
	 * How the lock is shared. Default: {@link LockMode#EXCLUSIVE EXCLUSIVE}. With
	 * {@link LockMode#OPTIMISTIC OPTIMISTIC} the method, its transaction included, is
	 * rolled back and runs again if another commit under the same key came first, until
	 * the wait time is over; it must have exactly one transaction. A mode that the
	 * configured backend does not have fails the start.
	 */
	LockMode mode() default LockMode.EXCLUSIVE;

	/**
	 * Whether waiters on all nodes are served in the order of their arrival. Default:
	 * {@code false}. Fails the start where the configured backend cannot do it.
	 */
	boolean fair() default false;

	/**
	 * What happens when another holder kept the lock for the whole wait time, or overtook
	 * all attempts of an optimistic method. Default: {@link OnBusy#THROW THROW}.
	 */
	OnBusy onBusy() default OnBusy.THROW;

	/**
	 * The name of a method of the same bean that is called, through the proxy, when
	 * another holder kept the lock for the whole wait time. It has the same parameters,
	 * optionally followed by a {@link LockNotAcquiredException}, and a return type that
	 * fits. Default: none.
	 */
	String fallbackMethod() default "";

	/**
	 * A SpEL expression like {@link #key()} that decides whether the lock is needed. When
	 * it is {@code false} the method runs without a lock. Default: always locked.
	 */
	String condition() default "";

	/**
	 * What to do with a call whose lock is busy.
	 */
	enum OnBusy {

		/** Throw a {@link LockNotAcquiredException}. */
		THROW,

		/**
		 * Do not call the method; return {@code null}, or an empty {@code Optional} where
		 * the method returns one. Refused at start-up for methods that return a
		 * primitive.
		 */
		SKIP

	}

}
