package io.github.holdfast.sample.wms;

import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

/**
 * The warehouse service on the MariaDB that it starts by itself.
 */
@ActiveProfiles("embedded-mariadb")
@DirtiesContext
class MariaDbWarehouseTests extends AbstractWarehouseTests {

}
