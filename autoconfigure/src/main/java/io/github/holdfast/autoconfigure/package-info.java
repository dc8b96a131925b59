/**
 * Auto-configuration of locks for Spring Boot.
 */
@NullMarked
package io.github.holdfast.autoconfigure;

import org.jspecify.annotations.NullMarked;
