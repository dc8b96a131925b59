package io.github.holdfast.sample.wms;

import org.springframework.context.annotation.Import;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

/**
 * The warehouse service with its locks in Redis.
 */
@ActiveProfiles("redis")
@Import(WithRedis.class)
@DirtiesContext
class RedisWarehouseTests extends WarehouseTests {

}
