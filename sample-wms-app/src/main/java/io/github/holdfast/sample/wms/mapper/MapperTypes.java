package io.github.holdfast.sample.wms.mapper;

import org.mybatis.spring.mapper.MapperFactoryBean;

import org.springframework.beans.factory.config.ConstructorArgumentValues;
import org.springframework.beans.factory.support.MergedBeanDefinitionPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.core.ResolvableType;
import org.springframework.stereotype.Component;

/**
 * Writes the type of each mapper into its definition, of which MyBatis' scanner has
 * written the name only: code that is generated ahead of time does not convert one into
 * the other.
 */
@Component
class MapperTypes implements MergedBeanDefinitionPostProcessor {

	@Override
	public void postProcessMergedBeanDefinition(RootBeanDefinition definition, Class<?> beanType, String beanName) {
		if (definition.hasBeanClass() && definition.getBeanClass() == MapperFactoryBean.class
				&& definition.getPropertyValues().get("mapperInterface") instanceof Class<?> mapper) {
			ConstructorArgumentValues arguments = new ConstructorArgumentValues();
			arguments.addGenericArgumentValue(mapper);
			definition.setConstructorArgumentValues(arguments);
			definition.setTargetType(ResolvableType.forClassWithGenerics(MapperFactoryBean.class, mapper));
		}
	}

}
