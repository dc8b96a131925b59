-- Holdfast, fence: for PostgreSQL only
CREATE TABLE IF NOT EXISTS holdfast_fence (
	source   varchar(40) COLLATE "C"  NOT NULL,
	lock_key varchar(255) COLLATE "C" NOT NULL,
	epoch    bigint                   NOT NULL,
	owner    varchar(36)              NOT NULL,
	version  bigint                   DEFAULT 0 NOT NULL,
	PRIMARY KEY (source, lock_key)
);
