package io.github.holdfast.testsupport;

import java.util.function.UnaryOperator;

import javax.sql.DataSource;

import org.springframework.beans.factory.config.BeanPostProcessor;

/** Puts something around each DataSource of an application. */
public record AroundDataSources(UnaryOperator<DataSource> around) implements BeanPostProcessor {

	@Override
	public Object postProcessAfterInitialization(Object bean, String beanName) {
		return (bean instanceof DataSource dataSource) ? this.around.apply(dataSource) : bean;
	}

}
