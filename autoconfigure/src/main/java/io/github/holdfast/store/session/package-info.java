/**
 * Locks in sessions of a database, whose connections also run the transactions under
 * them.
 */
@NullMarked
package io.github.holdfast.store.session;

import org.jspecify.annotations.NullMarked;
