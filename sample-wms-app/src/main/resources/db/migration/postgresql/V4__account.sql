create table account (
	account_no varchar(64) not null primary key,
	balance bigint not null
);
