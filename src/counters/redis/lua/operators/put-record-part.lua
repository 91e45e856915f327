-- Replaces one part of the record of a counter without reservations: the name with a space, the part, milliseconds to live. A longer
-- time to live stays.
local record = putPart(redis.call('GET', KEYS[1]) or '', 1, ARGV[1], ARGV[2])
if not record then return NOT_OURS end
local life = max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[3]))
return redis.call('PSETEX', KEYS[1], format(WHOLE, life), record)
