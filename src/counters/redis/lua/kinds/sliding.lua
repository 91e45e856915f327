-- Hits of the current window and the one before, and the ticks since the current one began. Stored as `window previous used`.
local MOST, FORM = 100000000, WHOLE .. ' ' .. WHOLE .. ' ' .. WHOLE
-- The fifth result: whether these figures are of the current window.
local function standBy(order, window, before, count)
  local period = order.period
  if window * period > MAX_EXACT or before > MOST or count > MOST then return nil, NO_INTEGER end
  local since = order.now - window * period
  if since < order.astray then return count, before, since % period, true end
  if since < period then return count, before, since, false, since >= 0 end
  if since < 2 * period then return 0, count, since - period, false end
  return 0, 0, since % period, false
end
local function free(order, used, previous, elapsed)
  local period = order.period
  local free = order.capacity - used * period
  if previous == 0 then return free end
  return free - max(0, previous * (elapsed > 0 and period - elapsed or period) - period)
end
local function figures(order, used, previous, elapsed)
  return (order.now - elapsed) / order.period, previous, used
end
local function encode(order, used, previous, elapsed)
  return format(FORM, (order.now - elapsed) / order.period, previous, used)
end
local function life(order, _, _, elapsed)
  return 2 * order.period - elapsed
end
-- What was charged at a tick is in the window of that tick.
local function undo(order, used, previous, elapsed, hits, tick)
  local windows = floor((order.now - elapsed) / order.period) - floor(tick / order.period)
  if windows == 0 then return max(0, used - hits), previous end
  if windows == 1 then return used, max(0, previous - hits) end
  return used, previous
end
return {
  readsFirst = true, pattern = '^(%d+) (%d+) (%d+)$', kept = 3, most = MOST, hasPrevious = true,
  standBy = standBy, free = free, figures = figures, encode = encode, life = life, undo = undo
}
