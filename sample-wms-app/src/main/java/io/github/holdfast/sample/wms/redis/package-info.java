/**
 * A Redis server inside the application, so that its locks can be tried with nothing
 * installed.
 */
@NullMarked
package io.github.holdfast.sample.wms.redis;

import org.jspecify.annotations.NullMarked;
