package io.github.holdfast.sample.wms;

import org.mybatis.spring.mapper.MapperFactoryBean;

import org.springframework.beans.factory.aot.BeanRegistrationExcludeFilter;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Leaves the mappers out of the code that is generated ahead of time, because MyBatis
 * scans for them again when the application starts.
 */
class MapperExclusion implements BeanRegistrationExcludeFilter {

	@Override
	public boolean isExcludedFromAotProcessing(RegisteredBean registeredBean) {
		return MapperFactoryBean.class.getName().equals(registeredBean.getMergedBeanDefinition().getBeanClassName());
	}

}
