-- Adds one increment. The time to live is set when the counter is new: its value then equals the hits. So it does for a counter at
-- 0, therefore EXPIRE uses NX (from Redis 7 on, where the version number exists) or PTTL is called first. A result below 0 is
-- raised to 0, which keeps the time to live: by INCRBY again, until its answer is 0, because a number of Lua holds 53 bits of one
-- far below 0. An error is returned as its text, and fails only this increment; COUNTED precedes one that came after INCRBY.
--
-- Counts are answered in MessagePack, which the client reads ten times faster than a list of integers, where the server supports
-- it; else as a list.
local isPacking, pack = pcall(function() return cmsgpack.pack end)
local pcall, hasNx = redis.pcall, redis.REDIS_VERSION_NUM
local text, number
local function expire(key, ttl)
  if hasNx then return pcall('EXPIRE', key, ttl, 'NX') end
  local left = pcall('PTTL', key)
  if type(left) == 'number' and left >= 0 then return 0 end
  return pcall('EXPIRE', key, ttl)
end
local function lift(key, count)
  for _ = 1, 4 do
    count = pcall('INCRBY', key, string.format('%.0f', math.min(-count, 2 ^ 62)))
    if type(count) == 'table' then return count.err end
    if count == 0 then return end
  end
end
local function add(key, hits, ttl)
  if hits ~= text then text, number = hits, tonumber(hits) end
  local count = pcall('INCRBY', key, hits)
  if type(count) == 'table' then return count.err end
  if count < 0 then
    local wrong = lift(key, count)
    if wrong then return COUNTED .. wrong end
  end
  if count == number then
    local done = expire(key, ttl)
    if type(done) == 'table' then return COUNTED .. done.err end
  end
  if count < 0 then return 0 end
  return count
end
