-- Reads a counter without reservations for operators: the record (nil: there is none), milliseconds to live, and the clock.
local value = redis.call('GET', KEYS[1])
local text = value and textOf(value, 1)
if value and not text then return NOT_OURS end
return { text, redis.call('PTTL', KEYS[1]), redis.call('TIME') }
