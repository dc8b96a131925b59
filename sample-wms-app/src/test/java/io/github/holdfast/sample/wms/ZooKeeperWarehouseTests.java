package io.github.holdfast.sample.wms;

import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.context.ActiveProfiles;

/**
 * The warehouse service with its locks in the ZooKeeper that it starts by itself.
 */
@ActiveProfiles({ "zookeeper", "embedded-zookeeper" })
@DirtiesContext
class ZooKeeperWarehouseTests extends AbstractWarehouseTests {

}
