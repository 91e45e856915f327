import type { KindLua } from './kind.lua';

/** Functions for scripts with logs: `value`, `used` and `previous` are packed doubles, the ticks of hits, the oldest first. */
export const LOG_LUA = `
local MAX_LOGGED = 64
local function isTick(time)
  return time and time >= 0 and time <= MAX_EXACT and time % 1 == 0
end
local function packTimes(times)
  local parts = {}
  for i, time in ipairs(times) do parts[i] = struct.pack('<d', time) end
  return table.concat(parts)
end
-- The log, with hits of a wrong clock moved to now.
local function mendLog(live, order)
  local times = {}
  for at = 1, #live, 8 do
    local time = struct.unpack('<d', live, at)
    times[#times + 1] = time > order.latest and order.now or time
  end
  table.sort(times)
  return packTimes(times)
end
-- The number of hits in use of a log, their ticks, and whether a clock was wrong; nothing where the value is not a log.
local function standLog(value, order)
  local bytes, from, edge, time = #value, 1, order.now - order.period, nil
  if bytes % 8 ~= 0 or bytes > 8 * MAX_LOGGED then return nil end
  while from < bytes do
    time = struct.unpack('<d', value, from)
    if not isTick(time) then return nil end
    if time > edge then break end
    from = from + 8
  end
  if from > bytes then return 0, '' end
  local live = from == 1 and value or string.sub(value, from)
  local last = struct.unpack('<d', live, #live - 7)
  if not isTick(last) then return nil end
  if last <= order.latest then return #live / 8, live, false end
  live = mendLog(live, order)
  return #live / 8, live, true
end
local function lastOfLog(live)
  return live == '' and 0 or struct.unpack('<d', live, #live - 7)
end
-- The log with hits more at this tick; negative removes the newest.
local function takeIntoLog(live, hits, now)
  if hits <= 0 then return string.sub(live, 1, math.max(0, #live + 8 * hits)) end
  local time = math.max(now, lastOfLog(live))
  live = live .. string.rep(struct.pack('<d', time), math.min(hits, MAX_LOGGED))
  return string.sub(live, -8 * MAX_LOGGED)
end
local function putLog(after, size, live)
  after[size + 1] = #live / 8
  size = size + 1
  for at = 1, #live, 8 do
    size = size + 1
    after[size] = struct.unpack('<d', live, at)
  end
  return size
end
-- The log without up to hits of those counted at this tick or later.
local function undoInLog(live, hits, tick)
  local at = 1
  while at < #live and struct.unpack('<d', live, at) < tick do at = at + 8 end
  return string.sub(live, 1, at - 1) .. string.sub(live, at + 8 * hits)
end
-- Converts a window with its hits and those before, as far as they are in use, to the latest ticks possible.
local function logOfWindow(limit, window, before, count)
  local starts, times = window * limit.period, {}
  local ends = math.min(starts + limit.period, limit.now)
  starts = math.min(starts, limit.now)
  for _ = 1, math.min(before, MAX_LOGGED) do times[#times + 1] = starts end
  for _ = 1, math.min(count, MAX_LOGGED) do times[#times + 1] = ends end
  return string.sub(packTimes(times), -8 * MAX_LOGGED)
end
`;

/** See `LOG_LUA`; `previous` is the log. */
export const slidingLogLua: KindLua = {
  decode: `
    local live, isOld
    if value ~= '' then used, live, isOld = standLog(value, order) else used = nil end
    if not used then NOT_OURS() end
    previous, isAstray = live, isOld`,
  absent: `previous = ''`,
  has: { previous: false, elapsed: false },
  free: '(order.size - used) * order.period',
  unit: '1',
  isLog: true,
  record: {
    kept: [],
    advance: '',
    figures: [],
    most: '64',
    encode: 'previous',
    life: 'order.period + lastOfLog(previous) - order.now',
    // Hits a period old have left the log: there an undo would remove those of others.
    undo: `
    if order.now - tick < order.period then previous = undoInLog(previous, hits, tick) end
    used = #previous / 8`,
  },
};
