-- Holdfast, locks: for H2 only
CREATE TABLE IF NOT EXISTS holdfast_lock (
	lock_key    varbinary(255) NOT NULL PRIMARY KEY,
	epoch       bigint         NOT NULL,
	owner       varchar(36),
	holder      varchar(255),
	acquired_at bigint         NOT NULL,
	expires_at  bigint         NOT NULL,
	version     bigint         DEFAULT 0 NOT NULL
);
CREATE TABLE IF NOT EXISTS holdfast_renewal (
	lock_key   varbinary(255) NOT NULL PRIMARY KEY,
	epoch      bigint         NOT NULL,
	owner      varchar(36)    NOT NULL,
	expires_at bigint         NOT NULL
);
