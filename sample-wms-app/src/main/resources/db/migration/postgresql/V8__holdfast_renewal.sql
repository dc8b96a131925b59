CREATE TABLE IF NOT EXISTS holdfast_renewal (
	lock_key   varchar(255) COLLATE "C" NOT NULL PRIMARY KEY,
	epoch      bigint      NOT NULL,
	owner      varchar(36) NOT NULL,
	expires_at bigint      NOT NULL
);
