package io.github.holdfast.event;

import java.time.Duration;
import java.util.ArrayList;

import org.jspecify.annotations.Nullable;

import org.springframework.context.ApplicationContext;
import org.springframework.context.ApplicationListener;
import org.springframework.context.PayloadApplicationEvent;
import org.springframework.context.event.GenericApplicationListener;
import org.springframework.context.event.GenericApplicationListenerAdapter;
import org.springframework.context.support.AbstractApplicationContext;
import org.springframework.core.ResolvableType;

import io.github.holdfast.LockListener;

/**
 * Publishes what becomes of locked calls. Nothing is made for an event that nobody
 * listens to: that is looked up once, and again when there are more listeners.
 *
 * @since 0.2.0
 */
public final class LockEventPublisher implements LockListener {

	private final ApplicationContext context;

	private final Interest acquired = new Interest(LockAcquiredEvent.class);

	private final Interest notAcquired = new Interest(LockNotAcquiredEvent.class);

	private final Interest released = new Interest(LockReleasedEvent.class);

	private final Interest lost = new Interest(LockLostEvent.class);

	private final Interest storeFailed = new Interest(LockStoreFailedEvent.class);

	/**
	 * Create a publisher.
	 * @param context where the events are published
	 */
	public LockEventPublisher(ApplicationContext context) {
		this.context = context;
	}

	@Override
	public void acquired(Call call, Duration waitTime) {
		if (this.acquired.exists()) {
			this.context.publishEvent(new LockAcquiredEvent(call, waitTime));
		}
	}

	@Override
	public void notAcquired(Call call, Reason reason, Duration waitTime, Throwable cause) {
		if (this.notAcquired.exists()) {
			this.context.publishEvent(new LockNotAcquiredEvent(call, reason, waitTime, cause));
		}
	}

	@Override
	public void released(Call call, Outcome outcome, Duration holdTime) {
		if (this.released.exists()) {
			this.context.publishEvent(new LockReleasedEvent(call, outcome, holdTime));
		}
	}

	@Override
	public void lost(Call call, String key, Duration holdTime) {
		if (this.lost.exists()) {
			this.context.publishEvent(new LockLostEvent(call, key, holdTime));
		}
	}

	@Override
	public void storeFailed(Call call, Operation operation, Throwable failure) {
		if (this.storeFailed.exists()) {
			this.context.publishEvent(new LockStoreFailedEvent(call, operation, failure));
		}
	}

	/**
	 * Whether somebody listens to any of these events.
	 */
	boolean isListenedTo() {
		return this.acquired.exists() || this.notAcquired.exists() || this.released.exists() || this.lost.exists()
				|| this.storeFailed.exists();
	}

	/**
	 * Whether somebody listens to one kind of event.
	 */
	private final class Interest {

		private final ResolvableType type;

		private volatile Known known = new Known(-1, false);

		private Interest(Class<? extends LockEvent> type) {
			this.type = ResolvableType.forClassWithGenerics(PayloadApplicationEvent.class, type);
		}

		private boolean exists() {
			int listeners = countListeners();
			Known known = this.known;
			if (known.listeners() != listeners) {
				known = new Known(listeners, isSupported());
				this.known = known;
			}
			return known.exists();
		}

		private int countListeners() {
			int count = 0;
			for (ApplicationContext one = LockEventPublisher.this.context; one != null; one = one.getParent()) {
				if (one instanceof AbstractApplicationContext context) {
					count += context.getApplicationListeners().size();
				}
			}
			return count;
		}

		/**
		 * Events go to the listeners of the parents, too. Lazy listeners are known by
		 * their type only.
		 */
		private boolean isSupported() {
			for (ApplicationContext one = LockEventPublisher.this.context; one != null; one = one.getParent()) {
				if (!(one instanceof AbstractApplicationContext context)
						|| new ArrayList<>(context.getApplicationListeners()).stream().anyMatch(this::isSupportedBy)
						|| isSupportedByLazyOne(context)) {
					return true;
				}
			}
			return false;
		}

		private boolean isSupportedBy(@Nullable ApplicationListener<?> listener) {
			return listener != null && ((listener instanceof GenericApplicationListener generic) ? generic
					: new GenericApplicationListenerAdapter(listener))
				.supportsEventType(this.type);
		}

		private boolean isSupportedByLazyOne(AbstractApplicationContext context) {
			ResolvableType listener = ResolvableType.forClassWithGenerics(ApplicationListener.class, this.type);
			return context.getBeanNamesForType(listener, true, false).length > 0;
		}

	}

	/**
	 * What was found.
	 *
	 * @param listeners how many listeners there were
	 * @param exists whether one of them listens
	 */
	private record Known(int listeners, boolean exists) {

	}

}
