package io.github.holdfast.sample.wms;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

import jakarta.validation.Constraint;
import jakarta.validation.Payload;
import jakarta.validation.ReportAsSingleViolation;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Pattern;

/**
 * A number or code that clients choose. It contains no colon, so that different codes
 * never add up to the same lock key.
 */
@NotNull
@Pattern(regexp = "[A-Za-z0-9._-]{1,64}")
@ReportAsSingleViolation
@Constraint(validatedBy = {})
@Target({ ElementType.FIELD, ElementType.PARAMETER, ElementType.RECORD_COMPONENT, ElementType.METHOD })
@Retention(RetentionPolicy.RUNTIME)
@Documented
public @interface Code {

	String message() default "must be 1 to 64 letters, digits, dots, hyphens or underscores";

	Class<?>[] groups() default {};

	Class<? extends Payload>[] payload() default {};

}
