create table if not exists holdfast_lock (
	lock_key varchar(255) collate "C" not null primary key,
	epoch bigint not null,
	owner varchar(36),
	holder varchar(255),
	acquired_at bigint not null,
	expires_at bigint not null,
	version bigint default 0 not null
);
