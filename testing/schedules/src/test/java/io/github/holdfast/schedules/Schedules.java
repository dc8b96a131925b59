package io.github.holdfast.schedules;

import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * A test that runs under many schedules, with all classes of Holdfast under their
 * control. Its method takes {@link Threads}.
 */
@Target(ElementType.METHOD)
@Retention(RetentionPolicy.RUNTIME)
@Test
@ExtendWith(ScheduleExtension.class)
public @interface Schedules {

	/**
	 * All schedules with at most so many preemptions are run, unless they are more than
	 * {@link #most()}.
	 * @return the number
	 */
	int preemptions() default 1;

	/**
	 * The most of these schedules.
	 * @return the number
	 */
	int most() default 300;

	/**
	 * So many random schedules are run.
	 * @return the number
	 */
	int random() default 75;

}
