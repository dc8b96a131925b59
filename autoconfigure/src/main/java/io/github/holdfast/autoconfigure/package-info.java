/**
 * Auto-configuration for distributed locks.
 */
@NullMarked
package io.github.holdfast.autoconfigure;

import org.jspecify.annotations.NullMarked;
