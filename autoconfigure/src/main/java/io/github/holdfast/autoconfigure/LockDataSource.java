package io.github.holdfast.autoconfigure;

import java.util.List;
import java.util.function.Supplier;

import javax.sql.DataSource;

import org.springframework.beans.factory.BeanFactoryUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.function.SingletonSupplier;

import io.github.holdfast.core.LockConfigurationException;

/**
 * The DataSource of the lock table or the fence table: the one that is marked, or the
 * only or primary one. Looked for once, as each commit asks for it.
 */
final class LockDataSource implements Supplier<DataSource> {

	private final ObjectProvider<DataSource> marked;

	private final ObjectProvider<DataSource> all;

	private final ConfigurableListableBeanFactory beanFactory;

	private final Supplier<DataSource> dataSource = SingletonSupplier.of(this::find);

	LockDataSource(@HoldfastDataSource ObjectProvider<DataSource> marked, ObjectProvider<DataSource> all,
			ConfigurableListableBeanFactory beanFactory) {
		this.marked = marked;
		this.all = all;
		this.beanFactory = beanFactory;
	}

	/**
	 * Find the DataSource.
	 * @return the DataSource
	 * @throws LockConfigurationException if it is not clear which one
	 */
	@Override
	public DataSource get() {
		return this.dataSource.get();
	}

	private DataSource find() {
		List<DataSource> marked = this.marked.stream().toList();
		if (marked.size() > 1) {
			throw new LockConfigurationException("Several DataSource beans are marked with @HoldfastDataSource.",
					"Mark only the one with the business data and the lock table.");
		}
		DataSource dataSource = marked.isEmpty() ? this.all.getIfUnique() : marked.get(0);
		if (dataSource == null) {
			List<String> names = List.of(BeanFactoryUtils.beanNamesForTypeIncludingAncestors(this.beanFactory,
					DataSource.class, true, false));
			throw new LockConfigurationException(
					names.isEmpty() ? "There is no DataSource bean for the tables of Holdfast."
							: "Several DataSource beans could have the tables of Holdfast: " + names + ".",
					names.isEmpty() ? "Declare one, or set 'holdfast.commit-guard' to 'lease' or 'verify'."
							: "Mark the one with the business data with @HoldfastDataSource, or as @Primary.");
		}
		return dataSource;
	}

}
