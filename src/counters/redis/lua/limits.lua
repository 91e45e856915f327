-- Counters of a wrong clock that were mended.
local mended = 0
-- The kinds by their letters, each made when it is first needed.
local KINDS = {}
local function kindOf(letter)
  local kind = KINDS[letter]
  if not kind then
    kind = makeKind(letter)
    KINDS[letter] = kind
  end
  return kind
end
-- A limit with its figures at the current time: the tick of now, and those that a correct clock may have written.
local function complete(limit)
  limit.now = floor(micros / limit.micros)
  local most = limit.period + 1000 * SPARE_MS / limit.micros
  limit.astray, limit.latest = -most, limit.now + most
  local kind = limit.kind
  limit.capacity, limit.most, limit.free, limit.life = limit.size * limit.period, kind.most, kind.free, kind.life
  -- Units of a hit.
  limit.unit = kind.isDraining and limit.period or 1
end
-- The same for an order: equal charges to counters of one limit.
local function completeOrder(order)
  complete(order)
  order.cost, order.step = order.hits * order.period, order.hits * order.unit
  -- The form of a text that is written now.
  if order.kind.isDraining then order.form = WHOLE .. format(' ' .. WHOLE, order.now) end
end
-- What a limit has used once hits are added (or fewer, below 0).
local function added(limit, used, hits)
  used = used + hits * limit.unit
  if used > limit.most then return limit.most end
  return used < 0 and 0 or used
end
