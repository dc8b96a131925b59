package io.github.holdfast.actuate;

import java.nio.charset.StandardCharsets;
import java.security.Principal;
import java.util.Collection;
import java.util.Set;

import org.jspecify.annotations.Nullable;

import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.EndpointWebExtension;
import org.springframework.http.server.PathContainer;
import org.springframework.http.server.RequestPath;
import org.springframework.web.context.request.RequestAttributes;
import org.springframework.web.context.request.RequestContextHolder;
import org.springframework.web.servlet.HandlerMapping;
import org.springframework.web.util.ServletRequestPathUtils;
import org.springframework.web.util.UriUtils;

import io.github.holdfast.actuate.LocksEndpoint.EvictionDescriptor;
import io.github.holdfast.actuate.LocksEndpoint.LockDescriptor;
import io.github.holdfast.actuate.LocksEndpoint.LocksDescriptor;

/**
 * {@link EndpointWebExtension} of the {@link LocksEndpoint}: keys are shown to those who
 * may see them, and what became of an eviction is a status.
 *
 * @since 0.2.0
 */
@EndpointWebExtension(endpoint = LocksEndpoint.class)
public class LocksEndpointWebExtension {

	private static final int CONFLICT = 409;

	private static final int NOT_IMPLEMENTED = 501;

	private final LocksEndpoint endpoint;

	private final Show showValues;

	private final Set<String> roles;

	/**
	 * Create an extension.
	 * @param endpoint the endpoint
	 * @param showValues when keys are shown
	 * @param roles those who may see them if they are authorized
	 */
	public LocksEndpointWebExtension(LocksEndpoint endpoint, Show showValues, Collection<String> roles) {
		this.endpoint = endpoint;
		this.showValues = showValues;
		this.roles = Set.copyOf(roles);
	}

	/**
	 * What this node holds and waits for.
	 * @param security who asks
	 * @return the locks
	 */
	@ReadOperation
	public WebEndpointResponse<LocksDescriptor> locks(SecurityContext security) {
		return new WebEndpointResponse<>(this.endpoint.locks(isShown(security)));
	}

	/**
	 * What the store and this node know of one lock.
	 * @param security who asks
	 * @param key the key or its digest
	 * @return the lock, with status 503 if a store has failed
	 */
	@ReadOperation
	public WebEndpointResponse<LockDescriptor> lock(SecurityContext security,
			@Selector(match = Selector.Match.ALL_REMAINING) String[] key) {
		LockDescriptor lock = this.endpoint.lock(asWritten(key), isShown(security));
		return new WebEndpointResponse<>(lock, lock.unknown().isEmpty() ? WebEndpointResponse.STATUS_OK
				: WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE);
	}

	/**
	 * Takes a lock away from its holder.
	 * @param security who asks
	 * @param key the key or its digest
	 * @param owner the owner of the holder
	 * @param epoch the epoch of the holder
	 * @return what became of it
	 */
	@DeleteOperation
	public WebEndpointResponse<EvictionDescriptor> evict(SecurityContext security,
			@Selector(match = Selector.Match.ALL_REMAINING) String[] key, String owner, long epoch) {
		EvictionDescriptor eviction = this.endpoint.evict(asWritten(key), owner, epoch, name(security),
				isShown(security));
		return new WebEndpointResponse<>(eviction, switch (eviction.outcome()) {
			case EVICTED -> WebEndpointResponse.STATUS_OK;
			case NOT_HELD, IN_TRANSACTION -> CONFLICT;
			case NOT_SUPPORTED -> NOT_IMPLEMENTED;
			case FAILED -> WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE;
		});
	}

	/**
	 * Spring MVC drops what is behind a semicolon, and empty segments, so that another
	 * lock would be asked for.
	 */
	private static String asWritten(String[] key) {
		RequestAttributes request = RequestContextHolder.getRequestAttributes();
		if (request != null
				&& request.getAttribute(ServletRequestPathUtils.PATH_ATTRIBUTE,
						RequestAttributes.SCOPE_REQUEST) instanceof RequestPath path
				&& request.getAttribute(HandlerMapping.BEST_MATCHING_PATTERN_ATTRIBUTE,
						RequestAttributes.SCOPE_REQUEST) instanceof String pattern) {
			String fixed = pattern.substring(0, pattern.lastIndexOf('/') + 1);
			PathContainer written = path.pathWithinApplication()
				.subPath(PathContainer.parsePath(fixed).elements().size());
			return UriUtils.decode(written.value(), StandardCharsets.UTF_8);
		}
		return String.join("/", key);
	}

	private boolean isShown(SecurityContext security) {
		return this.showValues.isShown(security, this.roles);
	}

	private static @Nullable String name(SecurityContext security) {
		Principal principal = security.getPrincipal();
		return (principal != null) ? principal.getName() : null;
	}

}
