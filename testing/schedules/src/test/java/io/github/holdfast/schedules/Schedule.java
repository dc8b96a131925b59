package io.github.holdfast.schedules;

import java.util.List;

/**
 * Decides whose turn it is.
 */
interface Schedule {

	/**
	 * Choose the thread that goes on.
	 * @param options those that can, the one that has had its turn first
	 * @param goesOn whether that one can
	 * @param clock stands for letting time pass, and is the last one if it can
	 * @return one of them
	 */
	Task choose(List<Task> options, boolean goesOn, Task clock);

	/**
	 * Choose a number.
	 * @param size how many there are
	 * @return at least zero and less than the size
	 */
	int choose(int size);

}
