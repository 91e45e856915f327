-- The ticks of the hits in use, the oldest first, as packed doubles: they are `previous` of the state, and `used` is their number.
-- `heir` is the kind whose counter a list of limits has where 1.0.0-rc.1 wrote it.
local packed, read, sub = struct.pack, struct.unpack, string.sub
local function isTick(time)
  return time and time >= 0 and time <= MAX_EXACT and time % 1 == 0
end
local function packTimes(times)
  local parts = {}
  for i, time in ipairs(times) do parts[i] = packed('<d', time) end
  return table.concat(parts)
end
-- The log, with hits of a wrong clock moved to now.
local function mend(live, order)
  local times = {}
  for at = 1, #live, 8 do
    local time = read('<d', live, at)
    times[#times + 1] = time > order.latest and order.now or time
  end
  table.sort(times)
  return packTimes(times)
end
local function standLog(value, order)
  local bytes, from, edge, time = #value, 1, order.now - order.period, nil
  if bytes % 8 ~= 0 or bytes > 8 * MAX_LOGGED then return nil, NO_INTEGER end
  while from < bytes do
    time = read('<d', value, from)
    if not isTick(time) then return nil, NO_INTEGER end
    if time > edge then break end
    from = from + 8
  end
  if from > bytes then return 0, '', 0, false end
  local live = from == 1 and value or sub(value, from)
  local last = read('<d', live, #live - 7)
  if not isTick(last) then return nil, NO_INTEGER end
  if last <= order.latest then return #live / 8, live, 0, false end
  live = mend(live, order)
  return #live / 8, live, 0, true
end
local function stand(value, order)
  if not value then return 0, '', 0, false end
  if value == '' then return nil, NO_INTEGER end
  return standLog(value, order)
end
local function free(order, used)
  return (order.size - used) * order.period
end
local function put(after, size, _, live)
  after[size + 1] = #live / 8
  size = size + 1
  for at = 1, #live, 8 do
    size = size + 1
    after[size] = read('<d', live, at)
  end
  return size
end
local function lastOf(live)
  return live == '' and 0 or read('<d', live, #live - 7)
end
local function life(order, _, live)
  return live == '' and 0 or order.period + lastOf(live) - order.now
end
local function encode(_, _, live)
  return live
end
-- The log with hits more at this tick; negative removes the newest.
local function take(live, hits, now)
  if hits <= 0 then return sub(live, 1, max(0, #live + 8 * hits)) end
  local time = max(now, lastOf(live))
  live = live .. packed('<d', time):rep(min(hits, MAX_LOGGED))
  return sub(live, -8 * MAX_LOGGED)
end
-- The log without up to `hits` of those counted at this tick or later. Hits a period old have left the log: there an undo would
-- remove those of others.
local function undo(order, _, live, _, hits, tick)
  if order.now - tick < order.period then
    local at = 1
    while at < #live and read('<d', live, at) < tick do at = at + 8 end
    live = sub(live, 1, at - 1) .. sub(live, at + 8 * hits)
  end
  return #live / 8, live
end
-- Converts a window with its hits and those before, as far as they are in use, to the latest ticks possible.
local function ofWindow(limit, window, earlier, count)
  local starts, times = window * limit.period, {}
  local ends = min(starts + limit.period, limit.now)
  starts = min(starts, limit.now)
  for _ = 1, min(earlier, MAX_LOGGED) do times[#times + 1] = starts end
  for _ = 1, min(count, MAX_LOGGED) do times[#times + 1] = ends end
  return sub(packTimes(times), -8 * MAX_LOGGED)
end
return {
  readsFirst = true, isLog = true, kept = 0, most = MAX_LOGGED, heir = 's',
  stand = stand, standLog = standLog, free = free, put = put, encode = encode, life = life, take
  = take, undo = undo, ofWindow = ofWindow
}
