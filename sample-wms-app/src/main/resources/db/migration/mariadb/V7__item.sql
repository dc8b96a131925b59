-- The index is not unique on purpose: nothing but the lock keeps it to one row for each SKU
create table item (
	id bigint auto_increment primary key,
	sku varchar(64) not null,
	extension mediumtext not null
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

create index ix_item on item (sku);
