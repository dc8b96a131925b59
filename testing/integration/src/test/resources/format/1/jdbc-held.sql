INSERT INTO holdfast_lock (lock_key, epoch, owner, holder, acquired_at, expires_at, version)
	VALUES (${key}, 4102444800000000, 'recorded-owner', 'recorded holder', 1790000000000000, 1790000001000000, 7);
INSERT INTO holdfast_renewal (lock_key, epoch, owner, expires_at)
	VALUES (${key}, 4102444800000000, 'recorded-owner', 4102444800000000);
