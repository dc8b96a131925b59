create table tb_inventory (
	id bigint generated always as identity primary key,
	customer_no varchar(64) not null,
	warehouse_code varchar(64) not null,
	sku varchar(64) not null,
	available_inventory bigint not null,
	version bigint default 0 not null,
	deleted boolean default false not null,
	constraint uk_inventory unique (customer_no, warehouse_code, sku)
);

create table outbound_order (
	id bigint generated always as identity primary key,
	order_no varchar(64) not null,
	customer_no varchar(64) not null,
	warehouse_code varchar(64) not null,
	status varchar(16) not null,
	constraint uk_order unique (order_no)
);

create table outbound_order_detail (
	id bigint generated always as identity primary key,
	order_no varchar(64) not null,
	line_no int not null,
	sku varchar(64) not null,
	quantity int not null,
	constraint uk_order_detail unique (order_no, line_no),
	constraint fk_order_detail foreign key (order_no) references outbound_order (order_no)
);
