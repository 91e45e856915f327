-- Reads the field `s` of a counter with reservations, and its length before the record.
local stored = redis.call('HMGET', KEYS[1], 's')[1]
local size = stored and headOf(stored)
if stored and not size then return redis.error_reply(NO_INTEGER) end
