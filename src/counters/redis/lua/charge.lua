-- Charges one counter of any kind. First, where it stands; the last result is the length of its text if that is of the same window.
local function stand(key, order)
  local kind = order.kind
  if noClock and not kind.isCount then return nil, noClock end
  local value = pcall('GET', key)
  if value and value.err then return nil, value.err end
  local pattern = kind.pattern
  if not pattern then return kind.stand(value, order) end
  if not value then return kind.standBy(order, 0, 0, 0) end
  local a, b, c = match(value, pattern)
  if not a then return nil, NO_INTEGER end
  local used, previous, elapsed, isAstray, isSame = kind.standBy(order, a + 0, b + 0, c and c + 0)
  return used, previous, elapsed, isAstray, isSame and #value
end
-- Writes the figures of a state into an answer.
local function put(kind, after, size, used, previous, elapsed)
  if kind.put then return kind.put(after, size, used, previous, elapsed) end
  after[size + 1] = used
  if not kind.hasPrevious then
    after[size + 2] = elapsed
    return size + 2
  end
  after[size + 2], after[size + 3] = previous, elapsed
  return size + 3
end
-- Writes a counter that is in use for some ticks, and a second more; returns the text of an error, if any.
local function keep(key, order, text, ticks)
  local ms = ticks * order.micros / 1000
  ms = ms + -ms % 1 + 1000
  if ms > LONGEST then ms = LONGEST end
  return pcall('PSETEX', key, format(WHOLE, ms), text).err
end
-- Returns the text of an error, if any.
local function charge(key, order, ttl, used, previous, elapsed, isAstray)
  local kind, hits, charged = order.kind, order.hits, 1
  if hits == 0 and not isAstray then return end
  if order.charging then charged = order.times
  elseif hits > order.size then charged = 0
  elseif hits > 0 then
    local free = kind.free(order, used, previous, elapsed)
    charged = free < order.cost and 0 or min(order.times, floor(free / order.cost))
  end
  if isAstray then mended = mended + 1
  elseif charged == 0 then return end
  if kind.isCount then
    local count = add(key, charged == 1 and order.text or format(WHOLE, charged * hits), ttl)
    return type(count) == 'string' and count
  end
  if order.undo then
    used, previous = kind.undo(order, used, previous, elapsed, -hits, floor(order.undo / order.micros))
  elseif kind.isLog then previous = kind.take(previous, charged * hits, order.now)
  else used = added(order, used, charged * hits) end
  if previous ~= '' and (used > 0 or previous ~= 0) then
    return keep(key, order, kind.encode(order, used, previous, elapsed), kind.life(order, used, previous, elapsed))
  end
  local done = pcall('DEL', key)
  return type(done) == 'table' and done.err
end
-- Charges a counter, writes its answer into a list after index `size`, and returns the new length.
local function chargeOne(key, order, ttl, after, size)
  local wrong
  if not order.kind.readsFirst then wrong = add(key, order.text, ttl)
  else
    local used, previous, elapsed, isAstray = stand(key, order)
    if used then wrong = charge(key, order, ttl, used, previous, elapsed, isAstray) else wrong = previous end
    if not wrong then return put(order.kind, after, size, used, previous, elapsed) end
  end
  after[size + 1] = wrong
  return size + 1
end
-- Whether a counter refuses its charge; a refund is judged by what is left after it.
local function isOver(order, used, previous, elapsed)
  if order.hits > 0 then
    return order.hits > order.size or order.cost > order.free(order, used, previous, elapsed)
  end
  return order.free(order, max(0, used + order.step), previous, elapsed) < 0
end
