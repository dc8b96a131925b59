package io.github.holdfast.sample.wms.mapper;

import org.mybatis.spring.mapper.MapperScannerConfigurer;

import org.springframework.beans.factory.aot.BeanRegistrationExcludeFilter;
import org.springframework.beans.factory.support.RegisteredBean;

/**
 * Keeps the scanner out of an application that was processed ahead of time: it has found
 * all mappers then, and would refuse to find them again.
 */
class MapperScannerFilter implements BeanRegistrationExcludeFilter {

	@Override
	public boolean isExcludedFromAotProcessing(RegisteredBean registeredBean) {
		return registeredBean.getBeanClass() == MapperScannerConfigurer.class;
	}

}
