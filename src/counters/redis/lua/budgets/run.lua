-- Applies charges, and the run of a request whose charges are decided together (budgets.md section 7).
local function putBudget(limiter, after, size)
  for j = 1, #limiter.limits do
    local limit = limiter.limits[j]
    if limit.isWindow then
      after[size + 1], after[size + 2] = U[j], E[j]
      size = size + 2
    elseif not limit.isSlots then
      size = put(limit.kind, after, size, U[j], P[j], E[j])
    end
  end
  if limiter.isReserving then
    size = size + 1
    -- Hits wanted by charges of the run count as reserved before any of it is open.
    after[size] = (open > 0 or held > 0 or lapsed > 0) and 1 or 0
    if after[size] == 1 then
      after[size + 1], after[size + 2], after[size + 3], after[size + 4] = held, open, was, lapsed
      size = size + 4
    end
  end
  for b = 1, #limiter.blocks do
    size = size + 1
    after[size] = KQ[b]
    if KQ[b] > 0 then
      after[size + 1], after[size + 2], after[size + 3], after[size + 4] = KS[b], KE[b], KU[b], KT[b]
      size = size + 4
    end
  end
  return size
end
local function applyBudget(order, i)
  local from = size
  local wrong = standBudget(order, i)
  if not wrong then
    size = putBudget(order.limiter, after, size)
    wrong = saveBudget(order, i)
  end
  if wrong then fail(from, wrong) end
end
local function apply(i)
  local order = orderOf[i]
  if order.limiter then return applyBudget(order, i) end
  size = chargeOne(nameOf[i], order, ttlOf[i], after, size)
end
-- Whether a refund is over all the same; no block refuses it.
local function isInDebt(limiter)
  for j = 1, #limiter.limits do
    local limit = limiter.limits[j]
    if not limit.isSlots and not limit.isResting and freeOf(limit, j) < 0 then return true end
  end
  return false
end
-- Hits and slots that charges of the run want from each counter.
local hitsAhead, openAhead
-- Whether a counter refuses its charge; late: only because of earlier charges, which are then held back.
local function judgeAhead(order, i, hits)
  local name, isOver, isLate = nameOf[i], judge(order, hits), false
  local more, taken = hitsAhead[name] or 0, openAhead[name] or 0
  if not isOver and order.holds and more + taken > 0 then
    held, open = min(held + more, MAX_EXACT), open + taken
    isLate = judge(order, hits)
  end
  if order.mode == 'r' and was < 0 then openAhead[name] = taken + 1 end
  if order.mode == 'r' and was < 0 or order.mode == 'a' then hitsAhead[name] = more + hits end
  return isOver or isLate, isLate
end
-- Reads a counter: its figures, undefined where it cannot be read, and whether it refuses its charge, and only because of others.
local function readCounter(i)
  local order, readings = orderOf[i], {}
  local hits = hitsOf[i]
  if order.limiter then
    if standBudget(order, i) then return end
    if hits >= 0 or order.mode ~= 'a' then
      local isOver, isLate = judgeAhead(order, i, max(hits, 0))
      putBudget(order.limiter, readings, 0)
      return readings, isOver, isLate
    end
    putBudget(order.limiter, readings, 0)
    takeAll(order.limiter, hits)
    return readings, isInDebt(order.limiter)
  end
  local used, previous, elapsed = stand(nameOf[i], order)
  if not used then return end
  put(order.kind, readings, 0, used, previous, elapsed)
  return readings, isOver(order, used, previous, elapsed)
end
-- Settle and cancel apply even if the request is refused.
local function isEnding(mode)
  return mode == 's' or mode == 'h' or mode == 'c'
end
-- A late charge is answered by its reading, and nothing is changed.
local function applyRun(first, last)
  local readings, over, late, isAnyOver = {}, {}, {}, false
  hitsAhead, openAhead = {}, {}
  for i = first, last do
    readings[i], over[i], late[i] = readCounter(i)
    isAnyOver = isAnyOver or over[i] and orderOf[i].holds
  end
  for i = first, last do
    local isHeld = readings[i] and not over[i] and not isEnding(orderOf[i].mode)
    if isAnyOver and (isHeld or late[i]) then
      if isHeld then heldBack[#heldBack + 1] = i end
      for _, figure in ipairs(readings[i]) do
        size = size + 1
        after[size] = figure
      end
    else
      apply(i)
    end
  end
end
return apply, applyRun
