package io.github.holdfast.chaos;

import javax.sql.DataSource;

import org.apache.ibatis.annotations.Insert;
import org.apache.ibatis.annotations.Param;
import org.apache.ibatis.annotations.Update;
import org.apache.ibatis.mapping.Environment;
import org.apache.ibatis.session.Configuration;
import org.apache.ibatis.session.ExecutorType;
import org.apache.ibatis.session.SqlSessionFactoryBuilder;
import org.apache.ibatis.type.JdbcType;
import org.jspecify.annotations.Nullable;
import org.mybatis.spring.SqlSessionTemplate;
import org.mybatis.spring.transaction.SpringManagedTransactionFactory;

/**
 * Writes {@link Accounts} through MyBatis, which gathers the statements and sends them
 * when the transaction is about to commit.
 */
final class Batch {

	private final Mapper mapper;

	Batch(DataSource dataSource) {
		Configuration configuration = new Configuration(
				new Environment("chaos", new SpringManagedTransactionFactory(), dataSource));
		configuration.setJdbcTypeForNull(JdbcType.BIGINT);
		configuration.addMapper(Mapper.class);
		this.mapper = new SqlSessionTemplate(new SqlSessionFactoryBuilder().build(configuration), ExecutorType.BATCH)
			.getMapper(Mapper.class);
	}

	void write(String account, long version, @Nullable Long token, String sale) {
		if (Accounts.hasRow(account)) {
			this.mapper.update(account, version);
		}
		this.mapper.insert(account, version, token, sale);
	}

	/**
	 * The statements.
	 */
	interface Mapper {

		@Update("UPDATE account SET version = #{version} WHERE id = #{account}")
		void update(@Param("account") String account, @Param("version") long version);

		@Insert("INSERT INTO sale (account, version, token, id) VALUES (#{account}, #{version}, #{token}, #{sale})")
		void insert(@Param("account") String account, @Param("version") long version,
				@Param("token") @Nullable Long token, @Param("sale") String sale);

	}

}
