package io.github.holdfast.transaction;

import jakarta.persistence.EntityManagerFactory;

import org.springframework.context.ApplicationContext;
import org.springframework.mock.web.MockHttpServletRequest;
import org.springframework.orm.jpa.support.OpenEntityManagerInViewInterceptor;
import org.springframework.web.context.request.ServletWebRequest;

/**
 * A request whose EntityManager is open from its begin to its end, as Spring Boot has it
 * by default.
 */
final class OpenView {

	private OpenView() {
	}

	static void inView(ApplicationContext context, Runnable request) {
		inView(context.getBean(EntityManagerFactory.class), request);
	}

	static void inView(EntityManagerFactory factory, Runnable request) {
		OpenEntityManagerInViewInterceptor view = new OpenEntityManagerInViewInterceptor();
		view.setEntityManagerFactory(factory);
		ServletWebRequest webRequest = new ServletWebRequest(new MockHttpServletRequest());
		view.preHandle(webRequest);
		try {
			request.run();
		}
		finally {
			view.afterCompletion(webRequest, null);
		}
	}

}
