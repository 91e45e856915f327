-- Reads the arguments of the script of budgets.
local function take()
  at = at + 1
  return ARGV[at - 1]
end
local function takeNumber()
  at = at + 1
  return ARGV[at - 1] + 0
end
-- The names of the parts of a log, eight hits each: as many as its limit needs.
local function addLog(limit)
  limit.isLog, limit.heir, limit.names = true, limit.kind.heir .. sub(limit.id, 2) .. ' 3', {}
  for p = 1, max(1, ceil(limit.size / 8)) do limit.names[p] = nameOfLog(limit.id, p) end
  limit.part, limit.bytes = table.concat(limit.names, ';'), 64 * #limit.names
  return limit
end
local function readLimit()
  local id, letter, size, flags = take(), take(), takeNumber(), takeNumber()
  local isCharging, isResting = flags % 2 == 1, flags >= 2
  if letter == 'i' then return { id = id, size = size, isCharging = isCharging, isResting = isResting, isSlots = true } end
  local kind = kindOf(letter)
  local limit = {
    id = id, kind = kind, size = size, isCharging = isCharging, isResting = isResting,
    drain = takeNumber(), period = takeNumber(), micros = takeNumber()
  }
  if kind.isCount then
    limit.isWindow = true
    limit.starts, limit.ends, limit.longest = takeNumber() * 1000, takeNumber(), takeNumber()
    limit.latestEnd = floor(processMs / 1000) + limit.longest + SPARE_MS / 1000
  end
  complete(limit)
  if kind.isLog then return addLog(limit) end
  limit.part, limit.bytes, limit.form = id .. ' ' .. kind.kept, 8 * kind.kept, '<' .. ('d'):rep(kind.kept)
  return limit
end
-- The head of a record, and its size: where blocks have no state, and where they have.
local function layoutOf(text, bytes, parts)
  for _, one in ipairs(parts) do
    if one.part then text, bytes = text .. one.part .. ';', bytes + one.bytes end
  end
  return text, bytes
end
local function addLayouts(limiter)
  local text, bytes = layoutOf('', 0, limiter.limits)
  limiter.layouts = { { head = text, text = text .. '\n', bytes = #text + 1 + bytes } }
  if #limiter.blocks == 0 then return end
  text, bytes = layoutOf(text, bytes, limiter.blocks)
  limiter.layouts[2] = { head = text, text = text .. '\n', bytes = #text + 1 + bytes }
end
local function readLimiter()
  local flags = take()
  local limiter = { limits = {}, blocks = {}, lease = takeNumber() }
  limiter.isReserving, limiter.isReleased = find(flags, 'r') ~= nil, find(flags, 'l') ~= nil
  limiter.isForced, limiter.isShadow = find(flags, 'f') ~= nil, find(flags, 's') ~= nil
  for j = 1, takeNumber() do
    limiter.limits[j] = readLimit()
    limiter.hasLog = limiter.hasLog or limiter.limits[j].isLog
  end
  for b = 1, takeNumber() do
    limiter.blocks[b] = {
      part = take() .. ' 5', oldPart = take() .. ' 5', bytes = 40,
      after = takeNumber(), within = takeNumber(), lasts = takeNumber(), upTo = takeNumber(), limit = takeNumber()
    }
    local limit = limiter.limits[limiter.blocks[b].limit]
    limiter.blocks[b].isResting = limit and limit.isResting or false
  end
  addLayouts(limiter)
  addOneLimit(limiter)
  return limiter
end
local function readOrder()
  local letter = take()
  local order = { holds = take() == '1', text = take(), times = takeNumber(), undo = takeNumber() }
  order.hits = order.text + 0
  if order.undo == 0 then order.undo = nil end
  if letter == 'b' then
    order.limiter, order.mode = limiters[takeNumber()], take()
    if order.mode ~= 'a' and order.mode ~= 'l' then order.one = order.limiter.one end
    return order
  end
  order.kind, order.charging = kindOf(letter), take() == '1'
  order.drain, order.size, order.period, order.micros = takeNumber(), takeNumber(), takeNumber(), takeNumber()
  completeOrder(order)
  return order
end
for i = 1, takeNumber() do limiters[i] = readLimiter() end
for i = 1, takeNumber() do orders[format('%d', i)] = readOrder() end
for r = 1, takeNumber() do runEnds[r] = takeNumber() end
-- The charge at an index, for the general way.
local function readCharge(i)
  local order = orders[ARGV[at]]
  at = at + 1
  orderOf[i], nameOf[i], hitsOf[i] = order, keys[before + i], order.hits
  if order.limiter then
    if order.mode ~= 'a' then
      local id = ARGV[at]
      if id ~= '' then idOf[i] = id end
      hitsOf[i] = ARGV[at + 1] + 0
      at = at + 2
    end
  elseif order.kind.isCount then
    ttlOf[i] = ARGV[at]
    at = at + 1
  end
end
