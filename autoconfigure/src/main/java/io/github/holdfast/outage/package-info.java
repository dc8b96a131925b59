/**
 * What calls do while a store is down.
 */
@NullMarked
package io.github.holdfast.outage;

import org.jspecify.annotations.NullMarked;
