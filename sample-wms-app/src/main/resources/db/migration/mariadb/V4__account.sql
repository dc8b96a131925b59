create table account (
	account_no varchar(64) not null primary key,
	balance bigint not null
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;
