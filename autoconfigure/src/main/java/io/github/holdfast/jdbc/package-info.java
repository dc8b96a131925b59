/**
 * Locks in a table of a SQL database.
 */
@NullMarked
package io.github.holdfast.jdbc;

import org.jspecify.annotations.NullMarked;
