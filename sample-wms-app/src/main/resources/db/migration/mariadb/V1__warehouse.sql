-- Case and trailing blanks count, as they do in the keys of the locks: two locks must
-- never lead to the same row
create table tb_inventory (
	id bigint auto_increment primary key,
	customer_no varchar(64) not null,
	warehouse_code varchar(64) not null,
	sku varchar(64) not null,
	available_inventory bigint not null,
	version bigint default 0 not null,
	deleted boolean default false not null,
	constraint uk_inventory unique (customer_no, warehouse_code, sku)
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

create table outbound_order (
	id bigint auto_increment primary key,
	order_no varchar(64) not null,
	customer_no varchar(64) not null,
	warehouse_code varchar(64) not null,
	status varchar(16) not null,
	constraint uk_order unique (order_no)
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

create table outbound_order_detail (
	id bigint auto_increment primary key,
	order_no varchar(64) not null,
	line_no int not null,
	sku varchar(64) not null,
	quantity int not null,
	constraint uk_order_detail unique (order_no, line_no),
	constraint fk_order_detail foreign key (order_no) references outbound_order (order_no)
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;
