package io.github.holdfast.sample.wms;

import org.junit.jupiter.api.Tag;

import org.springframework.context.annotation.Import;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

@ActiveProfiles("redisson")
@Import(WithRedis.class)
@DirtiesContext
@Tag("long")
class RedissonWarehouseTests extends WarehouseTests {

}
