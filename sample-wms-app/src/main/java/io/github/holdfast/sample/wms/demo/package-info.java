/**
 * What happens with and without locks.
 */
@NullMarked
package io.github.holdfast.sample.wms.demo;

import org.jspecify.annotations.NullMarked;
