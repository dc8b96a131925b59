/**
 * What the stores share: the local queue with its handover, leases that run out, polling
 * and keys.
 */
@NullMarked
package io.github.holdfast.store;

import org.jspecify.annotations.NullMarked;
