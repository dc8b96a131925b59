/** The check of the models by TLC. */
package io.github.holdfast.spec;
