-- The keys of locks are case-sensitive, so the codes in them must be, too
ALTER DATABASE CHARACTER SET utf8mb4 COLLATE utf8mb4_bin;
