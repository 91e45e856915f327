-- The counter of a rule with several limits or reservations, as the first argument says: `string`, a record alone, or `hash`, one with
-- reservations, of which `stored` is field `s`. `size` is the length before the record.
local isHash, stored, size = ARGV[1] == 'hash', nil, 0
if isHash then
  stored = redis.call('HMGET', KEYS[1], 's')[1]
  size = stored and headOf(stored)
  if stored and not size then return redis.error_reply(NO_INTEGER) end
else stored = redis.call('GET', KEYS[1]) end
