package io.github.holdfast.sample.wms;

import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

/**
 * The warehouse service with its locks in the Redis that it starts by itself, through
 * Redisson.
 */
@ActiveProfiles({ "redisson", "embedded-redis" })
@DirtiesContext
class RedissonWarehouseTests extends AbstractWarehouseTests {

}
