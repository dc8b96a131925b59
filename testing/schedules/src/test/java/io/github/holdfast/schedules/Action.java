package io.github.holdfast.schedules;

/**
 * What a thread of a test does.
 */
@FunctionalInterface
public interface Action {

	/**
	 * Does it.
	 * @throws Exception ends the run, which has failed then
	 */
	void run() throws Exception;

}
