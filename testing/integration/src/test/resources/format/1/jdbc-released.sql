UPDATE holdfast_lock SET owner = NULL, holder = NULL, expires_at = 1790000002000000 WHERE lock_key = ${key};
