package io.github.holdfast.sample.wms;

import org.springframework.context.annotation.Import;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

@ActiveProfiles("redis")
@Import(WithRedis.class)
@DirtiesContext
class RedisWarehouseTests extends WarehouseTests {

}
