/**
 * Locks in sessions of a database, whose connections also run the transactions under
 * them.
 */
@NullMarked
package io.github.holdfast.session;

import org.jspecify.annotations.NullMarked;
