/**
 * Tests of the Redis server inside the application.
 */
@NullMarked
package io.github.holdfast.sample.wms.redis;

import org.jspecify.annotations.NullMarked;
