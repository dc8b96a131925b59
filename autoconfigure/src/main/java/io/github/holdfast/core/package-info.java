/**
 * What is inside of a locked call: the engine, one object for each call and for each
 * lease that it holds, and the renewal. Internal: {@link io.github.holdfast.LockTemplate}
 * is the way in, and only the transaction code of this library sees more than that.
 */
@NullMarked
package io.github.holdfast.core;

import org.jspecify.annotations.NullMarked;
