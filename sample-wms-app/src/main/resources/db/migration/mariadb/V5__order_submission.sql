-- The index is not unique on purpose: nothing but the lock keeps it to one order for each request
create table order_submission (
	id bigint auto_increment primary key,
	request_id varchar(64) not null,
	order_no varchar(64) not null,
	constraint fk_order_submission foreign key (order_no) references outbound_order (order_no)
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

create index ix_order_submission on order_submission (request_id);
