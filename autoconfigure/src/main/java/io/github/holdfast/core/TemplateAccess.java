package io.github.holdfast.core;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.UnaryOperator;

import org.jspecify.annotations.Nullable;

import io.github.holdfast.LockTemplate;

/**
 * What this library does with a template and its users do not: its end, which is that of
 * all locks of its copies, and what it knows of the body.
 */
public abstract class TemplateAccess {

	private static volatile @Nullable TemplateAccess instance;

	/**
	 * Give the template's code access. Called once, by the class of templates.
	 */
	protected TemplateAccess() {
		instance = this;
	}

	/**
	 * Prepares the shutdown of a template and all of its copies: who waits for a lock,
	 * now or later, gets a {@link io.github.holdfast.LockNotAcquiredException} with
	 * reason {@code SHUTDOWN} at once. Locks that are free are still given, and held ones
	 * are renewed.
	 * @param template the template
	 * @return completes when the last lock has been released, or the shutdown is taken
	 * back by {@link #resume}
	 */
	public static CompletionStage<Void> drain(LockTemplate template) {
		LockEngine engine = engine(template);
		return (engine != null) ? engine.drain() : CompletableFuture.completedStage(null);
	}

	/**
	 * Takes a {@link #drain} back: calls wait for their locks again. Does nothing after
	 * {@link #close}.
	 * @param template the template
	 */
	public static void resume(LockTemplate template) {
		LockEngine engine = engine(template);
		if (engine != null) {
			engine.resume();
		}
	}

	/**
	 * Stops the renewal of a template and all of its copies. Waiting and new callers get
	 * a {@link io.github.holdfast.LockNotAcquiredException} with reason {@code SHUTDOWN}.
	 * @param template the template
	 */
	public static void close(LockTemplate template) {
		LockEngine engine = engine(template);
		if (engine != null) {
			engine.close();
		}
	}

	/**
	 * Returns a copy that tells that the body consists of one transaction: its commit is
	 * the last thing that happens under the lock. If it is the only one of its name that
	 * begins there, the lock of a single key may be handed over to the next thread of
	 * this JVM after that commit, before the transaction's connection has been cleaned
	 * up. A body that goes on after its commit would go on without the lock.
	 * @param template the template
	 * @param transaction the transaction, or {@code null} if the body does more than that
	 * @return a copy
	 */
	public static LockTemplate withTransaction(LockTemplate template, @Nullable BodyTransaction transaction) {
		return get().withSpecOf(template, (spec) -> spec
			.withBody(new LockSpec.Body(spec.body().propagation(), spec.body().transactionManager(), transaction)));
	}

	/**
	 * Returns a copy that tells what a call does that finds its locks busy.
	 * @param template the template
	 * @param skips whether it is skipped on purpose
	 * @return a copy
	 */
	public static LockTemplate withSkips(LockTemplate template, boolean skips) {
		return get().withSpecOf(template, (spec) -> spec.withSkips(skips));
	}

	private static @Nullable LockEngine engine(LockTemplate template) {
		return get().engineOf(template);
	}

	/**
	 * Known as soon as there is a template.
	 */
	private static TemplateAccess get() {
		TemplateAccess access = instance;
		if (access == null) {
			throw new IllegalStateException("No template");
		}
		return access;
	}

	protected abstract @Nullable LockEngine engineOf(LockTemplate template);

	protected abstract LockTemplate withSpecOf(LockTemplate template, UnaryOperator<LockSpec> change);

}
