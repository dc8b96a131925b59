create table stock_report (
	id bigint auto_increment primary key,
	taken_at timestamp(3) not null,
	node varchar(64) not null,
	skus bigint not null,
	pieces bigint not null
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;
