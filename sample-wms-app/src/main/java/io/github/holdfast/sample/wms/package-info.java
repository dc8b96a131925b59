/**
 * A warehouse service whose stock is protected by distributed locks alone.
 */
@NullMarked
package io.github.holdfast.sample.wms;

import org.jspecify.annotations.NullMarked;
