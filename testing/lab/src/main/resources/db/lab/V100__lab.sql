create table lab_stock (
	sku varchar(128) primary key,
	available bigint not null,
	version bigint default 0 not null,
	changes bigint default 0 not null
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

insert into lab_stock (sku, available) values ('warm-up', 1000000000);

-- By these numbers the lab knows what an order has overwritten, whatever the strategy
create trigger lab_stock_changes before update on lab_stock for each row set new.changes = old.changes + 1;

-- One row for each order that was sold, written by the transaction that sold it
create table lab_order (
	sku varchar(128) not null,
	n int not null,
	node int not null,
	quantity int not null,
	read_available bigint,
	read_changes bigint,
	wrote_available bigint not null,
	wrote_changes bigint not null,
	primary key (sku, n)
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

-- Of the strategies 'lock-table', 'one-lock-for-all' and 'lock-row-in-transaction'
create table lab_lock (
	lock_key varchar(128) primary key,
	holder varchar(64)
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

insert into lab_lock values ('stock', null);

-- Of the strategies 'insert-lock' and 'two-waits'
create table lab_insert_lock (
	lock_key varchar(128) primary key,
	holder varchar(64) not null,
	expires_at timestamp(3) not null
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

-- Of the strategy 'expiry-in-java', in milliseconds since 1970
create table lab_expiring_lock (
	lock_key varchar(128) primary key,
	expires_at bigint not null
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

-- Of the strategy 'insert-lock-cleaner'
create table lab_cleaned_lock (
	lock_key varchar(128) primary key,
	holder varchar(64) not null,
	locked_at timestamp(3) not null
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;
