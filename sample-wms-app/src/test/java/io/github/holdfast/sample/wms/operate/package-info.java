/**
 * The service as those see it who operate it.
 */
@NullMarked
package io.github.holdfast.sample.wms.operate;

import org.jspecify.annotations.NullMarked;
