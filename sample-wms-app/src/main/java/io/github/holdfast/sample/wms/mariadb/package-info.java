/**
 * A MariaDB server inside the application, so that several nodes can be tried with
 * nothing installed.
 */
@NullMarked
package io.github.holdfast.sample.wms.mariadb;

import org.jspecify.annotations.NullMarked;
