package io.github.holdfast.benchmarks.contender;

import io.github.holdfast.LockTemplate;

/**
 * The template of Holdfast.
 */
final class HoldfastTemplate implements LockClient {

	private final LockTemplate template;

	HoldfastTemplate(LockTemplate template) {
		this.template = template;
	}

	@Override
	public void run(String key, Runnable body) {
		this.template.run(key, body::run);
	}

}
