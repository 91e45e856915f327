-- Replaces one part of the record (see `recordOf` of budgets/save.lua), or all of it: the kind of the counter (see counter.lua); the
-- name with a space, or nothing; the part; the expiry of the key, milliseconds since 1970, and the time until then. A longer time to
-- live stays.
local isNew = isHash and not stored
if isNew then stored, size = packed('<Bddd', 0, 0, 0, 0), 25 end
local record = putPart(stored or '', size + 1, ARGV[2], ARGV[3])
if not record then return NOT_OURS end
if not isHash then
  local life = max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[5]))
  return redis.call('PSETEX', KEYS[1], format(WHOLE, life), record)
end
local ends = max(read('<d', stored, 2), tonumber(ARGV[4]))
local isLater = ends == tonumber(ARGV[4])
local head = sub(stored, 1, 1) .. packed('<d', ends) .. sub(stored, 10, size)
redis.call('HSET', KEYS[1], 's', head .. record)
local done = isLater and redis.pcall('PEXPIRE', KEYS[1], ARGV[5])
if type(done) ~= 'table' then return 1 end
if isNew then redis.pcall('DEL', KEYS[1]) end
return done
