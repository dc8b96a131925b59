/**
 * What MyBatis lacks to be processed ahead of time.
 */
@NullMarked
package io.github.holdfast.sample.wms.mapper;

import org.jspecify.annotations.NullMarked;
