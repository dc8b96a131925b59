/**
 * From the annotation on a method to a call of the lock manager.
 */
@NullMarked
package io.github.holdfast.interceptor;

import org.jspecify.annotations.NullMarked;
