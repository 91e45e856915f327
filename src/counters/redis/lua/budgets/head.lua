-- Arguments, where those of operations.lua do not suffice: the time (see clock.lua) and that of the calling process in milliseconds;
-- the number of limiters, and their figures (see `readLimiter`); the number of orders, and the fields of each (see `readOrder`); the
-- number of runs, and their ends; then for each increment the number of its order, for a count its time to live, and for a
-- reservation the field of its id (empty: none) and hits.
--
-- Answers three lists: the figures of each counter before its charges (see `putBudget`), or the text of an error; the indices of
-- increments held back; and the time of the call in microseconds.
local BLOCK = '<ddddd'
local nowMs, processMs = floor(micros / 1000), tonumber(ARGV[at - 1])
local limiters, orders, runEnds = {}, {}, {}
local nameOf, idOf, hitsOf, orderOf, ttlOf = {}, {}, {}, {}, {}
local after, heldBack, size = {}, {}, 0
local function fail(from, text)
  for k = size, from + 1, -1 do after[k] = nil end
  size = from + 1
  after[size] = text
end
local function expireAt(name, ends)
  local done = pcall('PEXPIRE', name, format(WHOLE, ends - nowMs))
  return type(done) == 'table' and done.err
end
-- Until when a key is kept that is needed until then: for some more, so that few charges move it.
local function keptUntil(needed)
  return floor(min(needed + min((needed - nowMs) / 4, 600000) + 5000, nowMs + LONGEST))
end
