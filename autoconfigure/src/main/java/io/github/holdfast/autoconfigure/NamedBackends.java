package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.AbstractBeanDefinition;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.Environment;

import io.github.holdfast.LockBackend;
import io.github.holdfast.core.LockConfigurationException;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.FencedLockBackend;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.optimistic.OptimisticLockBackend;
import io.github.holdfast.store.HandoverLockBackend;
import io.github.holdfast.transaction.BackendGuards;
import io.github.holdfast.transaction.CommitGuardLevel;

/**
 * The {@link LockBackend} beans of {@code holdfast.locks.<name>.backend}, each with its
 * fence and the queue of this JVM around it, as the default one. They are looked for and
 * tried out when all singletons are there, or looked for by the first lock that is taken
 * before.
 */
class NamedBackends implements BackendGuards, SmartInitializingSingleton {

	private static final Logger logger = LoggerFactory.getLogger(NamedBackends.class);

	/** Until a client has found the server that answers. */
	private static final Duration PATIENCE = Duration.ofSeconds(15);

	private final Map<String, String> beansOfLocks = new TreeMap<>();

	/** What is below the names of locks. */
	private static final Bindable<Map<String, Map<String, String>>> LOCKS = Bindable
		.of(ResolvableType.forClassWithGenerics(Map.class, ResolvableType.forClass(String.class),
				ResolvableType.forClassWithGenerics(Map.class, String.class, String.class)));

	private final LockProperties properties;

	private final LockProperties.Handover handover;

	private final ConfigurableListableBeanFactory beanFactory;

	private final ObjectProvider<FenceTables> fences;

	private final Map<String, Guard> guards = new ConcurrentHashMap<>();

	/** Under which name each store was found first. */
	private final Map<LockBackend, String> stores = Collections.synchronizedMap(new IdentityHashMap<>());

	/**
	 * Create the backends, whose beans are not looked for yet.
	 * @param properties which locks have a backend of their own
	 * @param handover the limits of the queues
	 * @param beanFactory has the beans
	 * @param fences the rows by which commits are checked, if they are
	 */
	NamedBackends(LockProperties properties, LockProperties.Handover handover,
			ConfigurableListableBeanFactory beanFactory, ObjectProvider<FenceTables> fences) {
		this.properties = properties;
		this.handover = handover;
		this.beanFactory = beanFactory;
		this.fences = fences;
		properties.getLocks().forEach((lock, override) -> {
			if (override.getBackend() != null) {
				this.beansOfLocks.put(lock, override.getBackend());
			}
		});
	}

	/**
	 * The names of the beans, before there are any.
	 */
	static Stream<String> beanNames(Environment environment) {
		return Binder.get(environment)
			.bind("holdfast.locks", LOCKS, new LockGroups())
			.orElse(Map.of())
			.values()
			.stream()
			.map((lock) -> lock.get("backend"))
			.filter(Objects::nonNull)
			.distinct()
			.sorted();
	}

	/**
	 * The backend of a lock.
	 * @param lock the name of the lock
	 * @return the backend, or {@code null} if it is the default one
	 */
	@Nullable LockBackend ofLock(String lock) {
		String name = this.beansOfLocks.get(lock);
		return (name != null) ? guard(name).backend() : null;
	}

	/**
	 * Mostly there are none, and no call has to look its backend up.
	 */
	@Override
	public @Nullable Guard of(LockBackend backend) {
		for (Guard guard : this.guards.values()) {
			if (guard.backend() == backend) {
				return guard;
			}
		}
		return null;
	}

	@Override
	public Collection<Guard> all() {
		this.beansOfLocks.values().forEach(this::guard);
		return this.guards.values();
	}

	/**
	 * All backends of the application.
	 * @param usual the default one
	 * @return the default one first
	 */
	List<LockBackend> with(LockBackend usual) {
		List<LockBackend> all = new ArrayList<>(List.of(usual));
		all().forEach((guard) -> all.add(guard.backend()));
		return all;
	}

	/**
	 * Whether all locks are kept by the default backend.
	 */
	boolean isEmpty() {
		return this.beansOfLocks.isEmpty();
	}

	@Override
	public void afterSingletonsInstantiated() {
		all();
		this.guards.keySet().forEach(this::tryOut);
	}

	private void tryOut(String name) {
		new LockProbe(store(name), PATIENCE, this.properties,
				(failure) -> new LockConfigurationException(
						"The LockBackend bean '" + name + "' cannot be used: " + LockProbe.reason(failure) + ".",
						"Check what it is connected to.", failure))
			.takeLock();
	}

	private Guard guard(String name) {
		Guard guard = this.guards.get(name);
		if (guard != null) {
			return guard;
		}
		LockBackend store = store(name);
		FenceTables tables = this.fences.getIfAvailable();
		return this.guards.computeIfAbsent(name, (key) -> guard(key, store, tables));
	}

	private Guard guard(String name, LockBackend store, @Nullable FenceTables tables) {
		CommitGuardLevel wanted = this.properties.getCommitGuard();
		if (wanted == CommitGuardLevel.FENCE && tables == null) {
			throw FenceConfiguration.noFence();
		}
		boolean local = store.capabilities().contains(LockBackend.Capability.IN_PROCESS) && wanted == null;
		if (tables == null && !local) {
			FenceConfiguration.checkUnfenced("the bean '" + name + "'", this.properties, this.beanFactory);
		}
		FenceTable table = (tables != null && !local) ? tables.of(name) : null;
		RowFence fence = (table != null) ? table.fence() : null;
		LockBackend backend = new NamedLockBackend(
				LockBackendCandidate.complete((table != null) ? new FencedLockBackend(store, table) : store, fence,
						this.handover, this.properties),
				name);
		CommitGuardLevel level = this.properties.effectiveCommitGuard(fence != null);
		logger.info("The locks {} are kept by the backend '{}' ({}) {}", locks(name), name, store.name(),
				new BackendSummary(this.properties, this.handover, level).text());
		return new Guard(backend, level, fence);
	}

	private List<String> locks(String name) {
		return this.beansOfLocks.keySet().stream().filter((lock) -> name.equals(this.beansOfLocks.get(lock))).toList();
	}

	private LockBackend store(String name) {
		String property = property(name);
		if (!this.beanFactory.containsBean(name) || !this.beanFactory.isTypeMatch(name, LockBackend.class)) {
			throw new LockConfigurationException(
					property + " is '" + name + "', but there is no LockBackend bean of that name.",
					"Declare one by @Bean(defaultCandidate = false). The LockBackend beans are "
							+ List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory,
									LockBackend.class, true, false))
							+ ".");
		}
		if (!this.beanFactory.isSingleton(name)) {
			throw new LockConfigurationException(property + " names the bean '" + name + "', which is not a singleton.",
					"Let there be one for the whole application.");
		}
		if (isDefault(name)) {
			throw new LockConfigurationException(
					property + " names the bean '" + name + "', which is the default backend of all locks.",
					"Declare it by @Bean(defaultCandidate = false), or remove the property.");
		}
		LockBackend store = this.beanFactory.getBean(name, LockBackend.class);
		if (store instanceof FencedLockBackend || store instanceof HandoverLockBackend
				|| store instanceof OptimisticLockBackend) {
			throw new LockConfigurationException(
					property + " names the bean '" + name + "', which has a fence or a queue of its own.",
					"Let the bean be the store alone: both are put around it.");
		}
		String other = this.stores.putIfAbsent(store, name);
		if (other != null && !other.equals(name)) {
			throw new LockConfigurationException(
					property + " is '" + name + "', which is the same LockBackend as '" + other + "'.",
					"Call it by one name: each name has a queue and a fence of its own.");
		}
		return store;
	}

	private String property(String name) {
		return "'holdfast.locks[" + locks(name).get(0) + "].backend'";
	}

	/**
	 * Also one that was registered without a definition, which cannot say otherwise.
	 */
	private boolean isDefault(String name) {
		try {
			return !(this.beanFactory.getMergedBeanDefinition(name) instanceof AbstractBeanDefinition definition)
					|| (definition.isAutowireCandidate() && definition.isDefaultCandidate());
		}
		catch (NoSuchBeanDefinitionException ex) {
			return true;
		}
	}

}
