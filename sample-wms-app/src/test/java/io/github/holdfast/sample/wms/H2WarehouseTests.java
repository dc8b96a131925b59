package io.github.holdfast.sample.wms;

/**
 * The warehouse service on H2, the default.
 */
class H2WarehouseTests extends AbstractWarehouseTests {

}
