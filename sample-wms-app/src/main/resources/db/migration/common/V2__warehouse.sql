create table stock (
	customer_no varchar(64) not null,
	warehouse_code varchar(64) not null,
	sku varchar(64) not null,
	available bigint not null check (available >= 0),
	primary key (customer_no, warehouse_code, sku)
);

create table outbound_order (
	order_no varchar(64) not null primary key,
	customer_no varchar(64) not null,
	warehouse_code varchar(64) not null,
	status varchar(16) not null check (status in ('CREATED', 'CONFIRMED'))
);

create table outbound_order_line (
	order_no varchar(64) not null,
	line_no int not null,
	sku varchar(64) not null,
	quantity int not null check (quantity > 0),
	primary key (order_no, line_no),
	foreign key (order_no) references outbound_order (order_no)
);

create table account (
	account_no varchar(64) not null primary key,
	balance bigint not null check (balance >= 0)
);

-- Delete rows that no client repeats
create table answered_request (
	request_id varchar(64) not null primary key,
	content text not null,
	answer text not null
);

create table purchase (
	request_id varchar(64) not null primary key,
	customer_no varchar(64) not null,
	warehouse_code varchar(64) not null,
	sku varchar(64) not null,
	buyer_no varchar(64) not null,
	quantity int not null check (quantity > 0)
);

create index ix_purchase on purchase (customer_no, warehouse_code, sku, buyer_no);

create table stock_report (
	taken_at timestamp(3) default current_timestamp(3) not null,
	node varchar(64) not null,
	skus bigint not null,
	items bigint not null,
	primary key (taken_at, node)
);
