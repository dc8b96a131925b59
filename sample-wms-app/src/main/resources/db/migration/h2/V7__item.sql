-- The index is not unique on purpose: nothing but the lock keeps it to one row for each SKU
create table item (
	id bigint generated always as identity primary key,
	sku varchar(64) not null,
	extension text not null
);

create index ix_item on item (sku);
