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
 * begins and released after that transaction has ended. With the backend {@code jdbc},
 * the first statement of the transaction takes the lock where possible, and its commit
 * releases it.
 *
 * <p>
 * By default, the caller waits for {@code holdfast.wait-time}, and gets a
 * {@link LockNotAcquiredException} if another holder kept the lock for that long.
 * {@link OnBusy#SKIP SKIP} skips the method instead. A {@link #fallbackMethod()} runs in
 * its place.
 *
 * <pre class="code">
 * &#64;DistributedLock(key = "'inventory:' + #sku")
 * &#64;Transactional
 * public void confirm(String sku, int quantity) { ... }</pre>
 *
 * <p>
 * A nested call for a key that the same call chain already holds proceeds at once. The
 * annotation works on methods that are called through their Spring proxy: public,
 * protected or package-private, neither final nor static. Calls on {@code this} bypass
 * the proxy, and so do calls on objects that are not Spring beans, such as Quartz jobs
 * that are merely autowired. You can declare the annotation on an interface method, and
 * compose it into your own annotations with
 * {@link org.springframework.core.annotation.AliasFor @AliasFor}. Methods that return
 * before their work is done ({@code Future}, {@code CompletionStage}, reactive types) are
 * rejected at startup.
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
	 * The key of the lock: a SpEL expression that refers to the method's parameters by
	 * name ({@code #sku}) or by position ({@code #p0}), and to beans
	 * ({@code @tenant.id}). Methods with equal keys exclude each other, whatever class
	 * they are in, on all nodes that share a store and {@code holdfast.key-prefix}.
	 * <p>
	 * Keys are compared character by character. A database can find the same row for two
	 * texts that are different keys: the default collations of MariaDB and MySQL ignore
	 * case, and most of them trailing blanks. Lock the number of the row, or normalize
	 * the text: {@code "'stock:' + #sku.strip().toUpperCase()"}.
	 * <p>
	 * A collection or an array means several locks, all or none, taken in sorted order
	 * and each only once: {@code "#lines.!['inventory:' + sku]"}. An empty collection
	 * needs no lock. More than 1000 different keys are rejected.
	 * <p>
	 * These values are rejected with an {@link IllegalArgumentException}: a null or blank
	 * key, a null element, a null inside a concatenation, the sum of two numbers, records
	 * and other custom objects.
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
	 * means exactly one attempt. If the store does not answer, or the connection pool is
	 * exhausted, the call fails after the timeout of the client or pool, which can be
	 * longer. Default: {@code holdfast.wait-time}. Accepts {@code "500ms"}, {@code "2s"},
	 * ISO-8601 ({@code "PT2S"}) and <code>${...}</code>.
	 */
	String waitTime() default "";

	/**
	 * How soon other nodes get the lease after this JVM has died. The lease is renewed
	 * while the method runs, so it can be shorter than the method. Transaction locks of
	 * the backend {@code jdbc} have no lease. Default: {@code holdfast.lease-time}.
	 * Accepts the same forms as {@link #waitTime()}.
	 */
	String leaseTime() default "";

	/**
	 * How long the lease is renewed at most; after that it expires. A transaction that is
	 * still open keeps its row until it ends, so other holders wait for it. A time below
	 * a third of the lease time means no renewal, so the lease ends with its own time.
	 * Has no effect on locks without a lease, for example with the backend {@code local}.
	 * Default: no limit. Accepts the same forms as {@link #waitTime()}.
	 */
	String maxHoldTime() default "";

	/**
	 * How long the lock is held at least, counted from its acquisition. If the method
	 * ends earlier, with or without an exception, the lock is kept for the rest of the
	 * time, even for callers in this JVM. Therefore, a node whose clock is late does not
	 * run a scheduled job again. Must not be longer than {@link #maxHoldTime()}. Has no
	 * effect on a nested call for keys that are already held. ShedLock calls it
	 * {@code lockAtLeastFor}. Default: none, so the lock is released when the method
	 * ends. Accepts the same forms as {@link #waitTime()}.
	 */
	String minHoldTime() default "";

	/**
	 * How the lock is shared. Default: {@link LockMode#EXCLUSIVE EXCLUSIVE}. With
	 * {@link LockMode#OPTIMISTIC OPTIMISTIC}, the transaction is rolled back and the
	 * method runs again if another commit under the same key came first, until the wait
	 * time is over. Such a method must have exactly one transaction. The application does
	 * not start if the configured backend does not support the mode.
	 */
	LockMode mode() default LockMode.EXCLUSIVE;

	/**
	 * Whether waiters on all nodes are served in the order of their arrival. Default:
	 * {@code false}. The application does not start if the configured backend does not
	 * support it.
	 */
	boolean fair() default false;

	/**
	 * What happens when another holder kept the lock for the whole wait time, or overtook
	 * all attempts of an optimistic method. Default: {@link OnBusy#THROW THROW}.
	 */
	OnBusy onBusy() default OnBusy.THROW;

	/**
	 * The name of a method of the same bean. It is called through the proxy when the lock
	 * is busy, in the cases of {@link #onBusy}, and replaces it. It has the same
	 * parameters, optionally followed by a {@link LockNotAcquiredException}, and a return
	 * type that fits. Default: none.
	 */
	String fallbackMethod() default "";

	/**
	 * A SpEL expression like {@link #key()} that decides whether the lock is needed. If
	 * it is {@code false}, the method runs without a lock. Default: always locked.
	 */
	String condition() default "";

	/**
	 * What to do with a call whose lock is busy.
	 */
	enum OnBusy {

		/** Throw a {@link LockNotAcquiredException}. */
		THROW,

		/**
		 * Do not call the method; return {@code null}, or an empty {@code Optional} if
		 * the method returns one. Rejected at startup for methods that return a
		 * primitive.
		 */
		SKIP

	}

}
