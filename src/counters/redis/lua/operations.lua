-- Arguments: the time (see clock.lua), the number of orders, the eight fields of each (see `readOrder`), then for each key the number
-- of its order and, for those that count with INCRBY, their time to live; last the end (inclusive) of every run, if requests are
-- decided together.
--
-- Answers two lists: for each key the figures of its counter before its charges (see `put` of its kind) or, for a kind that does not
-- read first, the count after them, or the text of an error; and the indices (from 1) of increments held back; then the time of the
-- call in microseconds, and how many counters were mended.
local function failOne(after, size, text)
  -- Old entries are removed: a reader would take them for the numbers of the next key.
  after[size + 1], after[size + 2], after[size + 3] = text, nil, nil
  return size + 1
end
-- A single charge, the common case, without the loops and tables of the general way: it answers into the list after index `size`
-- and returns its new length.
local function oneOf(kind)
  local hasPrevious, free, encode, life = kind.hasPrevious, kind.free, kind.encode, kind.life
  return function(key, order, after, size)
    local used, previous, elapsed, isAstray, bytes = stand(key, order)
    if not used then return failOne(after, size, previous) end
    after[size + 1] = used
    local last = size + 2
    if hasPrevious then
      after[last] = previous
      last = last + 1
    end
    after[last] = elapsed
    if free(order, used, previous, elapsed) >= order.cost then used = used + order.step
    elseif not isAstray then return last end
    if isAstray then mended = mended + 1 end
    local text, wrong = encode(order, used, previous, elapsed)
    -- The key still ends with the next window. A shorter text would leave the end of the longer one.
    if bytes and #text >= bytes then
      local length = pcall('SETRANGE', key, '0', text)
      wrong = length ~= #text and length.err
    else wrong = keep(key, order, text, life(order, used, previous, elapsed)) end
    if wrong then return failOne(after, size, wrong) end
    return last
  end
end
local function readOrder(from)
  local kind, text = kindOf(ARGV[from]), ARGV[from + 6]
  local order = {
    kind = kind, drain = ARGV[from + 1] + 0, size = ARGV[from + 2] + 0, period = ARGV[from + 3] + 0,
    micros = ARGV[from + 4] + 0, charging = ARGV[from + 5] == '1', text = text, hits = text + 0,
    times = ARGV[from + 7] + 0
  }
  completeOrder(order)
  if kind.isCount or kind.isLog or noClock then return order end
  if order.times == 1 and order.hits > 0 and order.hits <= order.size and not order.charging then
    if not kind.one then kind.one = oneOf(kind) end
    order.one = kind.one
  end
  return order
end
local orders = {}
for i = 1, tonumber(ARGV[at - 1]) do
  orders[i] = readOrder(at)
  at = at + 8
end
local orderOf, ttlOf = {}, {}
for i = 1, n do
  local order = orders[ARGV[at] + 0]
  orderOf[i] = order
  at = at + 1
  if order.kind.isCount then
    ttlOf[i] = ARGV[at]
    at = at + 1
  end
end
local after, held, size = {}, {}, 0
local function applyRun(first, last)
  local standing, over, isAnyOver = {}, {}, false
  for i = first, last do
    local order = orderOf[i]
    local used, previous, elapsed = stand(keys[before + i], order)
    if used then
      standing[i] = { used, previous, elapsed }
      if isOver(order, used, previous, elapsed) then over[i], isAnyOver = true, true end
    end
  end
  for i = first, last do
    local stood = standing[i]
    if isAnyOver and stood and not over[i] then
      held[#held + 1] = i
      size = put(orderOf[i].kind, after, size, stood[1], stood[2], stood[3])
    else
      size = chargeOne(keys[before + i], orderOf[i], ttlOf[i], after, size)
    end
  end
end
if not ARGV[at] then
  for i = 1, n do
    local order = orderOf[i]
    if order.one then size = order.one(keys[before + i], order, after, size)
    else size = chargeOne(keys[before + i], order, ttlOf[i], after, size) end
  end
end
local first = 1
for r = at, #ARGV do
  local last = tonumber(ARGV[r])
  applyRun(first, last)
  first = last + 1
end
local answer = { after, held, format(WHOLE, micros), mended }
return isPacking and pack(answer) or answer
