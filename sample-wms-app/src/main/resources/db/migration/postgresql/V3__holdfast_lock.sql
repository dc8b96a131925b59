-- Holdfast: the locks. For PostgreSQL only
CREATE TABLE IF NOT EXISTS holdfast_lock (
	lock_key   varchar(255) COLLATE "C" NOT NULL PRIMARY KEY,
	epoch      bigint NOT NULL,
	owner      bigint,
	holder     varchar(255),
	expires_at bigint NOT NULL
);
