-- The index is not unique on purpose: nothing but the lock keeps it to one answer for each request
create table answered_request (
	id bigint auto_increment primary key,
	request_id varchar(64) not null,
	content mediumtext not null,
	answer mediumtext not null
) default charset = utf8mb4 collate = utf8mb4_nopad_bin;

create index ix_answered_request on answered_request (request_id);

-- Nobody has kept what these have asked for: who repeats one is refused, which is better than a second order
insert into answered_request (request_id, content, answer) select request_id, '', '' from order_submission;

drop table order_submission;
