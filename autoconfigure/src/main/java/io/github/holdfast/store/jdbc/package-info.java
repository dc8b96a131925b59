/**
 * The table {@code holdfast_lock} with all of its statements: leases, transaction locks
 * and the tokens of other stores.
 */
@NullMarked
package io.github.holdfast.store.jdbc;

import org.jspecify.annotations.NullMarked;
