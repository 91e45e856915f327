-- Charges one counter of any kind.
local function stand(key, order)
  if noClock and not order.kind.isCount then return nil, noClock end
  local value = pcall('GET', key)
  if type(value) == 'table' then return nil, value.err end
  local kind = order.kind
  if kind.stand then return kind.stand(value, order) end
  if not value then return kind.standBy(order, 0, 0, 0) end
  local a, b, c = match(value, kind.pattern)
  if not a then return nil, NO_INTEGER end
  return kind.standBy(order, a + 0, b + 0, (c or 0) + 0)
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
    local text, ticks = kind.encode(order, used, previous, elapsed)
    return pcall('PSETEX', key, format(WHOLE, min(ceil(ticks * order.micros / 1000) + 1000, LONGEST)), text).err
  end
  local done = pcall('DEL', key)
  return type(done) == 'table' and done.err
end
