/**
 * The rule: every transaction that begins under a lock first locks the lock's row, and
 * its COMMIT frees it.
 */
@NullMarked
package io.github.holdfast.transaction;

import org.jspecify.annotations.NullMarked;
