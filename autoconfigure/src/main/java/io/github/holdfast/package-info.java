/**
 * Distributed locks around methods and blocks of code: the annotation, the template, and
 * the small SPI that every lock store implements.
 */
@NullMarked
package io.github.holdfast;

import org.jspecify.annotations.NullMarked;
