package io.github.holdfast.autoconfigure;

import java.util.function.Supplier;

import io.github.holdfast.LockBackend;

/**
 * A store that could keep the locks of this application.
 */
record LockBackendCandidate(LockBackendType type, Supplier<LockBackend> backend) {

}
