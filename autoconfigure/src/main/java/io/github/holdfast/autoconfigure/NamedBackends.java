package io.github.holdfast.autoconfigure;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.DisposableBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.SmartLifecycle;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.Environment;

import io.github.holdfast.LockBackend;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.support.LockConfigurationException;
import io.github.holdfast.transaction.BackendGuards;
import io.github.holdfast.transaction.CommitGuardLevel;

/**
 * The backends of {@code holdfast.locks.<name>.backend}. They are opened and checked when
 * all singletons are there, or by the first lock that is taken before.
 */
class NamedBackends implements BackendGuards, SmartInitializingSingleton, SmartLifecycle, DisposableBean {

	private static final Logger logger = LoggerFactory.getLogger(NamedBackends.class);

	static final Bindable<Map<String, Map<String, String>>> NAMES = Bindable
		.of(ResolvableType.forClassWithGenerics(Map.class, ResolvableType.forClass(String.class),
				ResolvableType.forClassWithGenerics(Map.class, String.class, String.class)));

	private final Map<String, String> idsOfLocks = new TreeMap<>();

	/** Also those that have nothing but properties of their store. */
	private final Set<String> declared;

	private final LockProperties properties;

	private final ConfigurableListableBeanFactory application;

	private final ConfigurableEnvironment environment;

	private final ObjectProvider<LockBackendCandidate> candidates;

	private final ObjectProvider<NamedFence> fences;

	private final Map<String, Opened> opened = new ConcurrentHashMap<>();

	private final Map<LockBackend, Guard> guards = new ConcurrentHashMap<>();

	private volatile boolean running;

	/**
	 * Create the backends, which are not opened yet.
	 * @param properties what is configured
	 * @param application has the beans that connect to the stores
	 * @param environment the properties of the stores
	 * @param candidates the default backend, if it is not the application's own
	 * @param fences the rows of backends outside of the business database, if there are
	 */
	NamedBackends(LockProperties properties, ConfigurableListableBeanFactory application,
			ConfigurableEnvironment environment, ObjectProvider<LockBackendCandidate> candidates,
			ObjectProvider<NamedFence> fences) {
		this.properties = properties;
		this.application = application;
		this.environment = environment;
		this.candidates = candidates;
		this.fences = fences;
		properties.getLocks().forEach((name, lock) -> {
			if (lock.getBackend() != null) {
				this.idsOfLocks.put(name, lock.getBackend());
			}
		});
		this.declared = Binder.get(environment).bind("holdfast.backends", NAMES).orElse(Map.of()).keySet();
		checkUsed();
	}

	/**
	 * What is configured beside the default backend and used by a lock, before there are
	 * beans.
	 * @return the properties of each, which may have none, in the order of their names
	 */
	static Map<String, Map<String, String>> used(Environment environment) {
		Binder binder = Binder.get(environment);
		Map<String, Map<String, String>> declared = binder.bind("holdfast.backends", NAMES).orElse(Map.of());
		Stream<String> locks = binder.bind("holdfast.locks", NAMES, new LockGroups())
			.orElse(Map.of())
			.values()
			.stream()
			.map((lock) -> lock.get("backend"));
		Map<String, Map<String, String>> used = new TreeMap<>();
		locks.filter(Objects::nonNull).forEach((id) -> used.put(id, declared.getOrDefault(id, Map.of())));
		return used;
	}

	private void checkUsed() {
		for (String id : this.declared) {
			if (!uses().containsValue(id)) {
				throw new LockConfigurationException("The backend '" + id + "' of 'holdfast.backends' keeps no locks.",
						"Name it in 'holdfast.locks.<name>.backend', or remove it.");
			}
			if (!id.matches("[a-z][a-z0-9-]*")) {
				throw new LockConfigurationException("'" + id + "' in 'holdfast.backends' is no name of a backend.",
						"Use small letters of ASCII, digits and hyphens, and begin with a letter.");
			}
		}
	}

	/**
	 * Which properties name a backend.
	 */
	private Map<String, String> uses() {
		Map<String, String> uses = new TreeMap<>();
		this.idsOfLocks.forEach((lock, id) -> uses.put("holdfast.locks[" + lock + "].backend", id));
		return uses;
	}

	private @Nullable LockBackendType usualType() {
		List<LockBackendCandidate> usual = this.candidates.orderedStream().toList();
		return (usual.size() == 1) ? usual.get(0).type() : null;
	}

	private String source(LockBackendType type) {
		return Binder.get(this.environment).bind("holdfast.fence.source", String.class).orElse(type.propertyValue());
	}

	/**
	 * The backend of a lock.
	 * @param lock the name of the lock
	 * @return the backend, or {@code null} if it is the default one
	 */
	@Nullable LockBackend ofLock(String lock) {
		String id = this.idsOfLocks.get(lock);
		return (id != null) ? open(id).backend() : null;
	}

	/**
	 * Mostly there are none, and no call has to look its backend up.
	 */
	@Override
	public @Nullable Guard of(LockBackend backend) {
		return this.guards.isEmpty() ? null : this.guards.get(backend);
	}

	@Override
	public Collection<Guard> all() {
		uses().values().forEach(this::open);
		return this.guards.values();
	}

	/**
	 * All backends of the application.
	 * @param usual the default one
	 * @return the default one first
	 */
	List<LockBackend> with(LockBackend usual) {
		List<LockBackend> all = new ArrayList<>();
		all.add(usual);
		all().stream().map(Guard::backend).filter((backend) -> backend != usual).forEach(all::add);
		return all;
	}

	/**
	 * Whether all locks are kept by the default backend. Opens nothing.
	 */
	boolean isEmpty() {
		return this.idsOfLocks.isEmpty();
	}

	@Override
	public void afterSingletonsInstantiated() {
		all();
	}

	private Opened open(String id) {
		Opened opened = this.opened.get(id);
		if (opened != null) {
			return opened;
		}
		synchronized (this) {
			opened = this.opened.get(id);
			return (opened != null) ? opened : openNow(id);
		}
	}

	private Opened openNow(String id) {
		NamedBackend.Declaration declaration = declarations().get(id);
		Opened opened = (declaration != null) ? opened(declaration) : Opened.DEFAULT;
		this.opened.put(id, opened);
		return opened;
	}

	private Opened opened(NamedBackend.Declaration declaration) {
		NamedBackend named = NamedBackend.open(declaration, this.application, this.environment);
		try {
			Fence fence = named.fence();
			FenceTable table = (fence == null) ? table(declaration) : null;
			if (table != null) {
				fence = table.fence();
			}
			LockBackend store = named.candidate().open(table);
			LockBackend backend = named(declaration,
					LockBackendCandidate.complete(store, fence, named.handover(), this.properties));
			CommitGuardLevel level = this.properties.effectiveCommitGuard(fence != null);
			this.guards.put(backend, new Guard(backend, level, fence));
			tell(declaration, new BackendSummary(this.properties, named.handover(), level));
			return new Opened(named, backend);
		}
		catch (RuntimeException ex) {
			named.close();
			throw ex;
		}
	}

	private static LockBackend named(NamedBackend.Declaration declaration, LockBackend backend) {
		boolean named = declaration.id().equals(declaration.type().propertyValue());
		return named ? backend : new NamedLockBackend(backend, declaration.id());
	}

	/**
	 * By default, local locks are not checked by a fence, as the default backend's are
	 * not.
	 */
	private @Nullable FenceTable table(NamedBackend.Declaration declaration) {
		CommitGuardLevel wanted = this.properties.getCommitGuard();
		NamedFence rows = (declaration.type() == LockBackendType.LOCAL && wanted == null) ? null
				: this.fences.getIfAvailable();
		if (rows == null && wanted == CommitGuardLevel.FENCE) {
			throw FenceConfiguration.noFence();
		}
		return (rows != null) ? rows.table(declaration.source()) : null;
	}

	private void tell(NamedBackend.Declaration declaration, BackendSummary summary) {
		String type = declaration.type().propertyValue();
		List<String> locks = locks(declaration.id());
		if (!locks.isEmpty()) {
			logger.info("The locks {} are kept by the backend '{}' ({}) {}", locks, declaration.id(), type,
					summary.text());
		}
	}

	private List<String> locks(String id) {
		return this.idsOfLocks.entrySet()
			.stream()
			.filter((lock) -> lock.getValue().equals(id))
			.map(Map.Entry::getKey)
			.toList();
	}

	/**
	 * What is configured, by the names that locks refer to. The default backend has no
	 * declaration.
	 */
	private Map<String, NamedBackend.Declaration> declarations() {
		LockBackendType usualType = usualType();
		Map<String, NamedBackend.Declaration> declarations = new TreeMap<>();
		uses().forEach((property, id) -> {
			NamedBackend.Declaration declaration = declaration(property, id, usualType);
			if (declaration != null) {
				declarations.put(id, declaration);
			}
		});
		checkSources(declarations.values(), usualType);
		return declarations;
	}

	private NamedBackend.@Nullable Declaration declaration(String property, String id,
			@Nullable LockBackendType usualType) {
		LockProperties.Backend declared = this.declared.contains(id)
				? this.properties.getBackends().getOrDefault(id, new LockProperties.Backend()) : null;
		LockBackendType type = LockBackendType.of(id);
		if (declared != null && declared.getType() != null) {
			type = declared.getType();
		}
		if (type == null && declared == null) {
			throw new LockConfigurationException("'" + property + "' is '" + id + "', but there is no such backend.",
					"Name one of 'holdfast.backends', which are " + this.declared + ", or a store: "
							+ LockBackendType.names() + ".");
		}
		if (type == null) {
			throw new LockConfigurationException("The backend '" + id + "' of 'holdfast.backends' has no store.",
					"Set 'holdfast.backends." + id + ".type' to one of " + LockBackendType.names() + ".");
		}
		if (declared == null && type == usualType) {
			return null;
		}
		return new NamedBackend.Declaration(id, type, (declared != null) ? declared.getConnection() : null,
				property(id, "fence.source", id));
	}

	private String property(String id, String name, String usual) {
		return Binder.get(this.environment).bind("holdfast.backends." + id + "." + name, String.class).orElse(usual);
	}

	/**
	 * Stores count their epochs apart, so that one would keep out holders of the other.
	 */
	private void checkSources(Collection<NamedBackend.Declaration> declarations, @Nullable LockBackendType usualType) {
		Map<String, String> sources = new TreeMap<>();
		if (usualType != null) {
			sources.put(source(usualType), "the default one");
		}
		for (NamedBackend.Declaration declaration : declarations) {
			String other = sources.put(declaration.source(), "'" + declaration.id() + "'");
			if (other != null) {
				throw new LockConfigurationException(
						"The backend '" + declaration.id() + "' of 'holdfast.backends' and " + other
								+ " have the same name in the fence table, '" + declaration.source() + "'.",
						"Set 'holdfast.backends." + declaration.id() + ".fence.source' to another one, the same on all "
								+ "nodes.");
			}
		}
	}

	@Override
	public void start() {
		this.running = true;
		this.opened.values().forEach(Opened::start);
	}

	@Override
	public void stop() {
		this.running = false;
		this.opened.values().forEach(Opened::stop);
	}

	@Override
	public boolean isRunning() {
		return this.running;
	}

	@Override
	public boolean isPauseable() {
		return false;
	}

	/**
	 * Stops when no lock is held any more.
	 */
	@Override
	public int getPhase() {
		return LockShutdown.PHASE - 1;
	}

	@Override
	public void destroy() {
		this.opened.values().forEach(Opened::close);
	}

	/**
	 * What the locks of a name use.
	 *
	 * @param named the backend and its context, or {@code null} for the default one
	 * @param backend what grants the locks, or {@code null} for the default one
	 */
	private record Opened(@Nullable NamedBackend named, @Nullable LockBackend backend) {

		static final Opened DEFAULT = new Opened(null, null);

		void start() {
			if (this.named != null) {
				this.named.start();
			}
		}

		void stop() {
			if (this.named != null) {
				this.named.stop();
			}
		}

		void close() {
			if (this.named != null) {
				this.named.close();
			}
		}

	}

}
