-- A bucket that drains evenly: `used` is in units, `elapsed` the ticks since the last change. Stored as `units tick`.
local function standBy(order, units, tick)
  if units > MAX_EXACT or tick > MAX_EXACT then return nil, NO_INTEGER end
  local elapsed = order.now - tick
  if elapsed > 0 then
    local used = units - elapsed * order.drain
    return used < 0 and 0 or used, 0, 0, false
  end
  if elapsed < order.astray then return units, 0, 0, true end
  return units, 0, elapsed, false
end
local function free(order, used)
  return order.capacity - used
end
local function figures(order, used, _, elapsed)
  return used, order.now - elapsed
end
-- Ticks until the counter is idle.
local function life(order, used, _, elapsed)
  used = used / order.drain
  return used + -used % 1 - elapsed
end
local function encode(order, used, _, elapsed)
  if elapsed == 0 then return format(order.form, used) end
  return format(WHOLE .. ' ' .. WHOLE, used, order.now - elapsed)
end
-- What was charged at a tick has drained since.
local function undo(order, used, previous, _, hits, tick)
  return max(0, used - max(0, hits * order.period - max(0, order.now - tick) * order.drain)), previous
end
return {
  readsFirst = true, isDraining = true, pattern = '^(%d+) (%d+)$', kept = 2, most = MAX_EXACT,
  standBy = standBy, free = free, figures = figures, encode = encode, life = life,
  undo = undo
}
