package io.github.holdfast.sample.wms.order;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

import io.github.holdfast.sample.wms.Code;
import io.github.holdfast.sample.wms.stock.StockId;
import jakarta.validation.Valid;
import jakarta.validation.constraints.Max;
import jakarta.validation.constraints.Min;
import jakarta.validation.constraints.NotEmpty;
import jakarta.validation.constraints.NotNull;
import jakarta.validation.constraints.Size;

/** An outbound order. Its lines never change; its status does. */
public record Order(@Code String orderNo, @Code String customerNo, @Code String warehouseCode, Status status,
		@NotEmpty @Size(max = 100) List<@NotNull @Valid Line> lines) {

	/** The stock that the order takes items from. */
	public Set<StockId> stock() {
		return quantities().keySet();
	}

	Map<StockId, Long> quantities() {
		Map<StockId, Long> quantities = new LinkedHashMap<>();
		this.lines.forEach((line) -> quantities.merge(new StockId(this.customerNo, this.warehouseCode, line.sku()),
				(long) line.quantity(), Long::sum));
		return quantities;
	}

	Order with(Status status) {
		return new Order(this.orderNo, this.customerNo, this.warehouseCode, status, this.lines);
	}

	public enum Status {

		CREATED, CONFIRMED

	}

	public record Line(@Code String sku, @Min(1) @Max(1_000_000) int quantity) {
	}

}
