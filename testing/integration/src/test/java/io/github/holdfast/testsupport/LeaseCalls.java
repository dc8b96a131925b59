package io.github.holdfast.testsupport;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import org.springframework.beans.factory.config.BeanPostProcessor;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockRequest;

/** Notes what is asked of the leases, which are real, before they do it. */
public final class LeaseCalls implements BeanPostProcessor {

	private final List<String> calls = new CopyOnWriteArrayList<>();

	private final List<String> owners = new CopyOnWriteArrayList<>();

	private final Consumer<String> beforeCall;

	public LeaseCalls() {
		this((call) -> {
		});
	}

	public LeaseCalls(Consumer<String> beforeCall) {
		this.beforeCall = beforeCall;
	}

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof LockBackend backend) ? observed(backend) : bean;
	}

	private LockBackend observed(LockBackend backend) {
		return Intercepted.of(backend, (invocation) -> {
			Object result = invocation.proceed();
			// The check at the start takes one, too
			return (result instanceof LockBackend.Lease lease
					&& invocation.getArguments()[0] instanceof LockRequest request
					&& !request.name().equals("startup check")) ? observed(lease, request.owner().id()) : result;
		});
	}

	private LockBackend.Lease observed(LockBackend.Lease lease, String owner) {
		this.owners.add(owner);
		return Intercepted.of(lease, (invocation) -> {
			String method = invocation.getMethod().getName();
			this.calls.add(method);
			this.beforeCall.accept(method);
			return invocation.proceed();
		});
	}

	/** How often a method of {@link LockBackend.Lease} was called. */
	public long count(String method) {
		return this.calls.stream().filter(method::equals).count();
	}

	public List<String> owners() {
		return new ArrayList<>(this.owners);
	}

	public void clear() {
		this.calls.clear();
		this.owners.clear();
	}

}
