-- The open reservations of a counter (see hash-layout.lua).
--
-- Numbers without a reservation that one call skips at most; numbers read at once; and runs: more than a rule has leases in turn, or
-- a clock that goes back.
local MAX_PASSED, MAX_ASKED, MAX_RUNS = 10000, 1000, 8
-- The field s, and the position of the record in it; or all of a value that is a record alone.
local stored, recordAt
local held, open, runs, ends, was, isMet, lapsed
-- Whether anything was found that only a wrong clock can have written, or a figure below 0: in the record, and in the reservations.
local isMended, isOpenMended
-- The figures of each run, as of `runOf`.
local heads, nexts, firsts, lasts, closed = {}, {}, {}, {}, {}
local number
-- Expired leases: their fields, and the hits to charge by the moment of expiry.
local gone, dues
local dueAt, dueHits = {}, {}
local function noteLapse(limiter, hits, moment)
  lapsed, open = lapsed + hits, open - 1
  if limiter.isReleased then return end
  local at = dues
  while at > 0 and dueAt[at] > moment do at = at - 1 end
  if at > 0 and dueAt[at] == moment then
    dueHits[at] = dueHits[at] + hits
    return
  end
  for d = dues, at + 1, -1 do dueAt[d + 1], dueHits[d + 1] = dueAt[d], dueHits[d] end
  dueAt[at + 1], dueHits[at + 1] = moment, hits
  dues = dues + 1
end
-- Limits of this call for expired leases; and the number found for each counter, which a second read must repeat.
local lapsesLeft, passesLeft, granted = MAX_LAPSES, MAX_PASSED, {}
-- Skips the next numbers of a run, those with expired leases and those no longer open; returns whether it may go on, or an error.
local function passSome(limiter, name, r)
  local from = heads[r]
  local fields = numbersFrom(from, nexts[r], MAX_ASKED)
  local values = pcall('HMGET', name, unpack(fields))
  if values.err then return nil, values.err end
  for i = 1, #fields do
    local number, value = from + i - 1, values[i]
    if value then
      if #value < 18 then return nil, NO_INTEGER end
      local due, hits = leaseOf(value, lasts[r])
      if due > nowMs or lapsesLeft == 0 then
        heads[r], firsts[r] = number, due
        return false
      end
      local id, size = sub(value, 17), #gone
      gone[size + 1], gone[size + 2], gone[id] = id, fields[i], true
      lapsesLeft = lapsesLeft - 1
      noteLapse(limiter, max(0, hits), due)
    end
    heads[r] = number + 1
  end
  return true
end
local function passRun(limiter, name, r)
  local isGoing, wrong = true, nil
  while isGoing and heads[r] < nexts[r] and passesLeft > 0 do
    local from = heads[r]
    isGoing, wrong = passSome(limiter, name, r)
    if wrong then return wrong end
    passesLeft = passesLeft - (heads[r] - from)
  end
end
local function findLapses(limiter, name)
  local kept, left, passes = 0, lapsesLeft, passesLeft
  -- A call that reads a counter again finds as many.
  if granted[name] then lapsesLeft, passesLeft = granted[name], MAX_PASSED end
  local most = lapsesLeft
  gone = {}
  for r = 1, runs do
    if firsts[r] <= nowMs then
      local wrong = passRun(limiter, name, r)
      if wrong then return wrong end
    end
    if heads[r] < nexts[r] then
      kept = kept + 1
      heads[kept], nexts[kept], firsts[kept], lasts[kept], closed[kept] = heads[r], nexts[r], firsts[r], lasts[r], closed[r]
    end
  end
  local found = most - lapsesLeft
  if granted[name] then lapsesLeft, passesLeft = left, passes
  else granted[name] = found end
  runs, open, held = kept, max(0, open), max(0, held - lapsed)
  if runs > 0 then return end
  -- No lease is left that could end it: it ends now.
  if open > 0 then noteLapse(limiter, held, nowMs) end
  held, open = 0, 0
end
local function standOpen(order, name, id, own)
  local length = headOf(stored)
  if not length then return NO_INTEGER end
  recordAt = length + 1
  local isOver, isAstray
  local latest = nowMs + order.limiter.lease + SPARE_MS
  runs, ends, held, open = read('<Bddd', stored)
  -- A value that an earlier build let fall below 0, or wrote where others had: then nothing is reserved.
  if not (held >= 0) then held, isOpenMended = 0, true end
  if not (open >= 0) then open, isOpenMended = 0, true end
  for r = 1, runs do
    heads[r], nexts[r], firsts[r], lasts[r], closed[r], isAstray = runOf(stored, r, latest)
    isOpenMended = isOpenMended or isAstray
    isOver = isOver or firsts[r] <= nowMs
  end
  if isOver then
    local wrong = findLapses(order.limiter, name)
    if wrong then return wrong end
  end
  if not own or open == 0 or gone and gone[id] then return end
  if #own ~= 17 then return NO_INTEGER end
  local hits, at, met = read('<dc8B', own)
  -- A repeated call shows that its caller is there.
  if met == 1 and order.mode == 'c' then return end
  was, number, isMet = max(0, hits), at, met == 1
end
-- The number and the expiry for one more lease.
local function enqueue(limiter)
  local due, chosen, top, soonest = nowMs + limiter.lease, nil, 1, 1
  for r = 1, runs do
    local last = lasts[r]
    if last <= due and not closed[r] and (not chosen or last > lasts[chosen]) then chosen = r end
    if last < lasts[soonest] then soonest = r end
    top = max(top, nexts[r] + 2 ^ 40)
  end
  if not chosen and runs == MAX_RUNS then
    chosen, due = soonest, lasts[soonest]
  elseif not chosen then
    runs, chosen = runs + 1, runs + 1
    heads[chosen], nexts[chosen], firsts[chosen], closed[chosen] = top, top, due, false
  end
  local at = nexts[chosen]
  nexts[chosen], lasts[chosen] = at + 1, due
  return at, due
end
local function openText()
  if open == 0 then return packed('<Bddd', 0, ends, 0, 0) end
  local text = packed('<Bddd', runs, ends, held, open)
  for r = 1, runs do
    text = text .. packed('<dddd', heads[r], nexts[r], firsts[r], closed[r] and -lasts[r] or lasts[r])
  end
  return text
end
