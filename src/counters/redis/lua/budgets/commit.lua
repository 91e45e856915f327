-- Decides and commits a charge: the same as judge.ts, commit.ts and block.ts of core/budgets.
local refusing = {}
local function freeOf(limit, j)
  return freeUnits(limit, U[j], P[j], E[j], held)
end
-- Whether a charge is refused, and the index of the block that lasts; 0: none.
local function judge(order, hits)
  local limiter, mode, isOver, block = order.limiter, order.mode, false, 0
  if mode ~= 'a' and (mode ~= 'r' or was >= 0) then return false, 0 end
  for b = 1, #limiter.blocks do
    if nowMs < KU[b] and not limiter.blocks[b].isResting then block = b break end
  end
  if block > 0 and not limiter.isShadow then return true, block end
  local isReserve = mode == 'r'
  local least = isReserve and max(hits, 1) or hits
  for j = 1, #limiter.limits do
    local limit, isRefusing = limiter.limits[j], false
    if limit.isResting then isRefusing = false
    elseif limit.isSlots then isRefusing = isReserve and limit.size - open < 1
    else isRefusing = hits > limit.size or freeOf(limit, j) < least * limit.period end
    refusing[j] = isRefusing
    isOver = isOver or isRefusing
  end
  return isOver or isReserve and open >= MAX_OPEN, block
end
local function isTaking(limit, isDenied)
  return not limit.isSlots and not limit.isResting and (limit.isCharging or not isDenied)
end
local function takeAll(limiter, hits, isDenied)
  local isAny = false
  for j = 1, #limiter.limits do
    local limit = limiter.limits[j]
    if isTaking(limit, isDenied) then
      if limit.isLog then
        P[j] = limit.kind.take(P[j], hits, limit.now)
        U[j] = #P[j] / 8
      else U[j] = added(limit, U[j], hits) end
      isAny = true
    end
  end
  return isAny
end
-- Undoes what was charged at a moment: nothing in a window that has begun since.
local function undoAll(order, hits)
  for j = 1, #order.limiter.limits do
    local limit = order.limiter.limits[j]
    if isTaking(limit) then
      if not limit.isWindow then
        U[j], P[j] = limit.kind.undo(limit, U[j], P[j], E[j], hits, floor(order.undo / limit.micros))
      elseif E[j] == limit.ends then U[j] = max(0, U[j] - hits) end
    end
  end
  return true
end
-- Hits of the first charges that fit.
local function admit(limiter, hits, times)
  local admitted = times
  for j = 1, #limiter.limits do
    local limit = limiter.limits[j]
    if not limit.isResting then
      if hits > limit.size then return 0 end
      admitted = min(admitted, floor(max(0, freeOf(limit, j)) / (hits * limit.period)))
    end
  end
  return admitted
end
local function strike(limiter)
  local isAny = false
  for b = 1, #limiter.blocks do
    local block = limiter.blocks[b]
    if not block.isResting and (block.limit == 0 or refusing[block.limit]) then
      isAny = true
      local isNew = nowMs >= KE[b]
      local strikes = isNew and 1 or KS[b] + 1
      if nowMs - KQ[b] >= KT[b] then KT[b] = 0 end
      if strikes < block.after then
        if isNew then KE[b] = nowMs + block.within end
        KS[b], KQ[b] = strikes, nowMs
      else
        local lasts = KT[b] == 0 and block.lasts or max(block.lasts, min(2 * KT[b], block.upTo))
        KS[b], KE[b], KU[b], KT[b], KQ[b] = 0, 0, nowMs + lasts, lasts, nowMs + lasts
      end
    end
  end
  return isAny
end
-- Handles a refused charge; returns whether anything changed.
local function refuse(order, hits, block)
  if block > 0 and not order.limiter.isShadow then return false end
  local isStruck = block == 0 and strike(order.limiter)
  if order.mode ~= 'a' then return isStruck end
  return takeAll(order.limiter, hits, true) or isStruck
end
local function commitCharge(order, hits)
  local limiter, times = order.limiter, order.times
  if hits == 0 then return false end
  if order.undo then return undoAll(order, -hits) end
  if hits < 0 then return takeAll(limiter, hits) end
  if times == 1 then
    local isOver, block = judge(order, hits)
    if isOver then return refuse(order, hits, block) end
    return takeAll(limiter, hits)
  end
  local admitted = admit(limiter, hits, times)
  local isChanged = admitted > 0 and takeAll(limiter, admitted * hits)
  if admitted == times then return isChanged end
  return takeAll(limiter, (times - admitted) * hits, true) or isChanged
end
-- Commits the charge at an index; returns whether limits or blocks changed, and whether a reservation was opened or closed.
local function commitBudget(order, i)
  local mode = order.mode
  local hits = hitsOf[i]
  if mode == 'a' then return commitCharge(order, hits), false, false end
  if mode == 'r' then
    if was >= 0 then return false, false, false end
    local isOver, block = judge(order, hits)
    local isStruck = isOver and refuse(order, hits, block)
    local opens = open < MAX_OPEN and (order.limiter.isForced or not isOver)
    return isStruck, opens, false
  end
  if mode == 'l' or was < 0 then return false, false, false end
  local charged
  held, open, charged = settle(held, open, was, mode, hits)
  return charged > 0 and takeAll(order.limiter, charged), false, true
end
