/**
 * Requests that clients may repeat.
 */
@NullMarked
package io.github.holdfast.sample.wms.request;

import org.jspecify.annotations.NullMarked;
