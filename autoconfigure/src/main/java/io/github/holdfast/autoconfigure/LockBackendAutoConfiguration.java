package io.github.holdfast.autoconfigure;

import java.time.Duration;
import java.util.Set;

import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.env.Environment;
import org.springframework.format.annotation.DurationFormat;
import org.springframework.format.datetime.standard.DurationFormatterUtils;

import io.github.holdfast.LockBackend;
import io.github.holdfast.LockListener;
import io.github.holdfast.LockTemplate;
import io.github.holdfast.fence.Fence;
import io.github.holdfast.fence.FenceTable;
import io.github.holdfast.fence.FencedLockBackend;
import io.github.holdfast.fence.RowFence;
import io.github.holdfast.handover.HandoverLockBackend;
import io.github.holdfast.interceptor.LockNames;
import io.github.holdfast.optimistic.OptimisticLockBackend;
import io.github.holdfast.support.LockConfigurationException;
import io.github.holdfast.transaction.CommitGuardLevel;

/**
 * {@link org.springframework.boot.autoconfigure.EnableAutoConfiguration
 * Auto-configuration} for the lock store and {@link LockTemplate}.
 *
 * @since 0.1.0
 */
@AutoConfiguration(afterName = { "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration",
		"org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration",
		"org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration",
		"org.springframework.boot.transaction.jta.autoconfigure.JtaAutoConfiguration",
		"org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration",
		"org.redisson.spring.starter.RedissonAutoConfigurationV4",
		"org.springframework.cloud.zookeeper.ZookeeperAutoConfiguration" })
@EnableConfigurationProperties({ LockProperties.class, LockProperties.Handover.class })
public final class LockBackendAutoConfiguration {

	private static final Logger logger = LoggerFactory.getLogger(LockBackendAutoConfiguration.class);

	@Bean
	static LockPropertiesCheck lockPropertiesCheck(Environment environment) {
		return new LockPropertiesCheck(environment);
	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "holdfast.enabled", matchIfMissing = true)
	static class EnabledConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockTemplate holdfastLockTemplate(ObjectProvider<LockBackend> backend, ObjectProvider<LockListener> listeners,
				LockProperties properties, LockOverrides overrides) {
			return new LockTemplate(backend::getObject, () -> listeners.orderedStream().toList())
				.withKeyPrefix(properties.getKeyPrefix())
				.withWaitTime(properties.getWaitTime())
				.withLeaseTime(properties.getLeaseTime())
				.withOverrides(overrides);
		}

		@Bean
		LockOverrides lockOverrides(LockProperties properties) {
			return new LockOverrides(properties.getLocks());
		}

		@Bean
		LockOverridesCheck lockOverridesCheck(LockOverrides overrides, ObjectProvider<LockTemplate> template,
				ObjectProvider<LockNames> annotated, Environment environment) {
			return new LockOverridesCheck(overrides, template, annotated, environment);
		}

		@Bean
		LockShutdown lockShutdown(ApplicationContext context) {
			return new LockShutdown(context);
		}

		@Configuration(proxyBeanMethods = false)
		@ConditionalOnMissingBean(LockBackend.class)
		@Import({ LocalLockConfiguration.class, JdbcLockConfiguration.class, RedisLockConfiguration.class,
				RedissonLockConfiguration.class, EtcdLockConfiguration.class, ZooKeeperLockConfiguration.class,
				FenceConfiguration.class })
		static class ChosenBackendConfiguration {

			@Bean
			LockBackend lockBackend(ObjectProvider<LockBackendCandidate> candidates, LockProperties properties,
					LockProperties.Handover handover, ObjectProvider<FenceTable> fenceTable,
					ObjectProvider<Fence> fence) {
				LockBackendCandidate chosen = LockBackendCandidate.onlyOne(candidates.orderedStream().toList(),
						properties.getBackend());
				if (properties.getCommitGuard() == CommitGuardLevel.FENCE && fence.getIfAvailable() == null) {
					throw noFence();
				}
				logger.info("Locks are kept by the backend '{}' as '{}...', waited for {}, leased for {}, {}. {}",
						chosen.type().propertyValue(), properties.getKeyPrefix(), text(properties.getWaitTime()),
						text(properties.getLeaseTime()), handover.summary(),
						promise(properties, fence.getIfAvailable() != null));
				LockBackend fenced = fenced(chosen.open(), fenceTable.getIfAvailable());
				LockBackend queued = fenced.capabilities().contains(LockBackend.Capability.IN_PROCESS) ? fenced
						: new HandoverLockBackend(fenced, handover.limits(properties.namesWithoutHandover()),
								handover.queueLimits());
				return optimistic(queued, fence.getIfAvailable(), properties.getCommitGuard());
			}

			private static String text(Duration time) {
				return DurationFormatterUtils.print(time, DurationFormat.Style.COMPOSITE);
			}

			/**
			 * What the application may rely on, and what not.
			 */
			private static String promise(LockProperties properties, boolean fence) {
				CommitGuardLevel level = properties.effectiveCommitGuard(fence);
				String promise = switch (level) {
					case FENCE -> "Commit guard 'fence': the database refuses transactions of a holder that has lost "
							+ "its lock to another one";
					case VERIFY -> "Commit guard 'verify': transactions are rolled back if the store says before their "
							+ "commit that the lock is lost; one that is lost after that is not noticed";
					case LEASE -> "Commit guard 'lease': transactions are rolled back if this process knows before "
							+ "their commit that the lock is lost; a process that was paused may not know";
				};
				Set<String> unguarded = properties.getUnguardedTransactionManagers();
				return promise + ". Not protected: messages, calls of other systems, what is written outside of "
						+ "transactions" + (unguarded.isEmpty() ? "" : ", transactions of " + unguarded);
			}

			private static LockBackend fenced(LockBackend store, @Nullable FenceTable table) {
				return (table != null) ? new FencedLockBackend(store, table) : store;
			}

			/**
			 * At the other levels exclusive holders are not kept out by the fence row,
			 * which the locks of sessions do not even have.
			 */
			private static LockBackend optimistic(LockBackend backend, @Nullable Fence fence,
					@Nullable CommitGuardLevel level) {
				return (fence instanceof RowFence rows && (level == null || level == CommitGuardLevel.FENCE))
						? new OptimisticLockBackend(backend, rows) : backend;
			}

			private static LockConfigurationException noFence() {
				return new LockConfigurationException(
						"The level 'fence' of 'holdfast.commit-guard' needs a table in the business database, "
								+ "but there is no support for databases on the class path.",
						"Add 'spring-boot-starter-jdbc' or another starter with a DataSource, "
								+ "or set 'holdfast.commit-guard' to 'lease' or 'verify'.");
			}

		}

	}

	@Configuration(proxyBeanMethods = false)
	@ConditionalOnBooleanProperty(name = "holdfast.enabled", havingValue = false)
	static class DisabledConfiguration {

		@Bean
		@ConditionalOnMissingBean
		LockTemplate holdfastLockTemplate() {
			logger.warn("Locks are switched off by 'holdfast.enabled': locked methods run without a lock");
			return LockTemplate.unlocked();
		}

	}

}
