/**
 * From the annotation on a method to a call of the lock template.
 */
@NullMarked
package io.github.holdfast.interceptor;

import org.jspecify.annotations.NullMarked;
