create table stock_report (
	id bigint generated always as identity primary key,
	taken_at timestamp(3) with time zone not null,
	node varchar(64) not null,
	skus bigint not null,
	pieces bigint not null
);
