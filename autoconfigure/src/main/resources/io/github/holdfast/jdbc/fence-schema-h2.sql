-- Holdfast, fence: for H2 only
CREATE TABLE IF NOT EXISTS holdfast_fence (
	source   varbinary(40)  NOT NULL,
	lock_key varbinary(255) NOT NULL,
	epoch    bigint         NOT NULL,
	owner    varchar(36)    NOT NULL,
	version  bigint         DEFAULT 0 NOT NULL,
	PRIMARY KEY (source, lock_key)
);
