-- Removes usage and blocks; open reservations stay.
if not stored then return 0 end
if size == 25 then return redis.call('DEL', KEYS[1]) end
return redis.call('HSET', KEYS[1], 's', sub(stored, 1, size))
