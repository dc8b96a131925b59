-- Holdfast: the locks. For MariaDB and MySQL only
CREATE TABLE IF NOT EXISTS holdfast_lock (
	lock_key   varbinary(255) NOT NULL PRIMARY KEY,
	epoch      bigint         NOT NULL,
	owner      bigint,
	holder     varchar(255) CHARACTER SET utf8mb4,
	expires_at bigint         NOT NULL
) ENGINE = InnoDB;
