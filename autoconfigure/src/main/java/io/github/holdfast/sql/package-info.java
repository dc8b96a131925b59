/**
 * What everything that uses a database needs: its dialect, what its states mean, and
 * connections outside of the application's transactions.
 */
@NullMarked
package io.github.holdfast.sql;

import org.jspecify.annotations.NullMarked;
