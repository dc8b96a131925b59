/**
 * Locks in a table of a SQL database.
 */
@NullMarked
package io.github.holdfast.store.jdbc;

import org.jspecify.annotations.NullMarked;
