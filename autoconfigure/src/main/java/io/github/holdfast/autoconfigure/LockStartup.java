package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.Collections;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.ExecutionException;
import java.util.stream.Stream;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockBackendException;
import io.github.holdfast.LockConfigurationException;
import io.github.holdfast.LockMode;
import io.github.holdfast.LockRequest;
import io.github.holdfast.LockRequest.Owner;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.autoconfigure.HoldfastProperties.Jdbc.Mode;
import io.github.holdfast.check.LockedBeanCheck;
import io.github.holdfast.core.LockGuard;
import io.github.holdfast.core.LockGuard.Protection;
import io.github.holdfast.interceptor.LockOperationSource.LockOperation;
import io.github.holdfast.store.local.LocalLockBackend;
import io.github.holdfast.transaction.CommitGuardLevel;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.StringUtils;

/**
 * Logs how locks are kept. Runs the checks of the database, then takes and releases a
 * lock. An application that only has the starter on its class path needs no table or
 * server. A template that is obtained later fails on first use.
 */
final class LockStartup implements SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(LockStartup.class);

	private final LockBackend backend;

	private final LockGuard guard;

	private final CommitGuardLevel level;

	private final HoldfastProperties properties;

	private final LockedBeanCheck locked;

	private final ObjectProvider<LockStartupCheck> checks;

	private final ConfigurableListableBeanFactory beans;

	private final Map<String, Protection> protections = new ConcurrentSkipListMap<>();

	LockStartup(LockBackend backend, LockGuard guard, CommitGuardLevel level, HoldfastProperties properties,
			LockedBeanCheck locked, ObjectProvider<LockStartupCheck> checks, ConfigurableListableBeanFactory beans) {
		this.backend = backend;
		this.guard = guard;
		this.level = level;
		this.properties = properties;
		this.locked = locked;
		this.checks = checks;
		this.beans = beans;
	}

	CommitGuardLevel commitGuard() {
		return this.level;
	}

	/**
	 * How the transactions of the locked methods are bound to their locks, by class and
	 * method.
	 */
	Map<String, Protection> protections() {
		return Collections.unmodifiableMap(this.protections);
	}

	@Override
	public void afterSingletonsInstantiated() {
		logger.info("Holdfast uses backend '{}'{} with commit guard '{}' [prefix={}, wait={}{}]", this.backend.name(),
				mode(), text(this.level), this.properties.keyPrefix(), text(this.properties.waitTime()),
				(this.backend instanceof LocalLockBackend) ? "" : ", lease=" + text(this.properties.leaseTime()));
		if (this.locked.operations().isEmpty() && !isTemplateUsed()) {
			logger.info("Lock store check skipped: no @DistributedLock method and no LockTemplate in use");
			return;
		}
		this.checks.orderedStream().forEach(this::run);
		run(this::takeLock);
		run(this::findProtections);
	}

	private void run(LockStartupCheck check) {
		try {
			check.run();
		}
		catch (LockConfigurationException ex) {
			this.properties.startupChecks().report(ex);
		}
		catch (LockBackendException | ExecutionException ex) {
			this.properties.startupChecks().report(unusable(ex));
		}
		catch (InterruptedException ex) {
			Thread.currentThread().interrupt();
			throw new IllegalStateException("Startup was interrupted while a lock was taken as a check", ex);
		}
	}

	private String mode() {
		boolean transaction = this.level == CommitGuardLevel.FENCE && this.properties.jdbc().mode() == Mode.TRANSACTION;
		return !this.backend.name().equals(LockBackendType.JDBC.toString()) ? ""
				: " (mode " + text(transaction ? Mode.TRANSACTION : Mode.LEASE) + ")";
	}

	private static String text(Enum<?> value) {
		return value.name().toLowerCase(Locale.ROOT);
	}

	private static String text(Duration time) {
		return DurationFormatterUtils.print(time, DurationFormat.Style.COMPOSITE);
	}

	private boolean isTemplateUsed() {
		return Stream.of(this.beans.getBeanNamesForType(LockTemplate.class, true, false))
			.anyMatch((name) -> !name.equals(HoldfastAutoConfiguration.TEMPLATE)
					|| this.beans.getDependentBeans(name).length > 0);
	}

	private void takeLock() throws InterruptedException, ExecutionException {
		LockBackend.Lease lease = this.backend
			.acquire(new LockRequest(this.properties.keyPrefix() + "startup-check", "startup check", LockMode.EXCLUSIVE,
					false, this.properties.waitTime(), this.properties.leaseTime(), new Owner("startup check")));
		if (lease != null) {
			lease.release().toCompletableFuture().get();
		}
	}

	private LockConfigurationException unusable(Exception ex) {
		String reason = String.valueOf(NestedExceptionUtils.getMostSpecificCause(ex).getMessage());
		return new LockConfigurationException(
				"The lock backend '" + this.backend.name() + "' cannot be used: "
						+ StringUtils.trimTrailingCharacter(reason, '.') + ".",
				"Check that the store is running, and " + LockBackendType.settings(this.backend.name()) + ".", ex);
	}

	private void findProtections() {
		for (LockOperation operation : this.locked.operations()) {
			Protection protection = this.guard.protectionOf(operation.settings());
			logger.debug("Lock '{}' of {}: {}", operation.settings().name(), operation.location(), protection);
			this.protections.put(operation.location(), protection);
		}
	}

}
