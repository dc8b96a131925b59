-- Holdfast, locks: for MySQL only
CREATE TABLE IF NOT EXISTS holdfast_lock (
	lock_key    varbinary(255) NOT NULL PRIMARY KEY,
	epoch       bigint         NOT NULL,
	owner       varchar(36),
	holder      varchar(255) CHARACTER SET utf8mb4,
	acquired_at bigint         NOT NULL,
	expires_at  bigint         NOT NULL,
	version     bigint         DEFAULT 0 NOT NULL
) ENGINE = InnoDB;
CREATE TABLE IF NOT EXISTS holdfast_renewal (
	lock_key   varbinary(255) NOT NULL PRIMARY KEY,
	epoch      bigint         NOT NULL,
	owner      varchar(36)    CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
	expires_at bigint         NOT NULL
) ENGINE = InnoDB;
