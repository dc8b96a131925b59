-- Holdfast: the locks. For H2 only
CREATE TABLE IF NOT EXISTS holdfast_lock (
	lock_key   varbinary(255) NOT NULL PRIMARY KEY,
	epoch      bigint         NOT NULL,
	owner      bigint,
	holder     varchar(255),
	expires_at bigint         NOT NULL
);
