/**
 * The guard at commit, and the rules for calls inside a running transaction.
 */
@NullMarked
package io.github.holdfast.transaction;

import org.jspecify.annotations.NullMarked;
