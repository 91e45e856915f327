-- Reads the field `s` of a counter with reservations, and its length without the record (see budgets/open.lua).
local stored = redis.call('HMGET', KEYS[1], 's')[1]
local size = stored and 25 + 32 * string.byte(stored)
if stored and #stored < size then return redis.error_reply(NO_INTEGER) end
