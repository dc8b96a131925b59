create table purchase (
	id bigint auto_increment primary key,
	customer_no varchar(64) not null,
	warehouse_code varchar(64) not null,
	sku varchar(64) not null,
	buyer_no varchar(64) not null,
	quantity int not null
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

create index ix_purchase on purchase (customer_no, warehouse_code, sku, buyer_no);
