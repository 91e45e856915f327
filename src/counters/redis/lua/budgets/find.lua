-- Reads the state of a counter: the same as advance.ts, record.ts and stored.ts of core/budgets. The figures of the current counter
-- are in locals, so that nothing is allocated per key: U, P and E of each limit (used, previous, elapsed or the end of the window; for
-- a log the number of its hits and the log), KS to KQ of each block (see `BlockState`), and those of open reservations.
local U, P, E = {}, {}, {}
local KS, KE, KU, KT, KQ = {}, {}, {}, {}, {}
-- The hits that each log had before the call.
local logged = {}
-- The position of the record's next part; or, where the rule has changed, each part by its name, and the names read.
local place, places, names, known
-- Parts that the rule does not have, with the ends until which they are copied; and whether one has no end of its own yet.
local strays, isEndless
local NO_HIT = packed('<d', 0)
-- Returns whether the record is ours.
local function openRecord(limiter, value)
  place, places = nil, nil
  local from = value and recordAt or 1
  local size = value and #value - from + 1 or 0
  if size == 0 then return true end
  for _, layout in ipairs(limiter.layouts) do
    if size == layout.bytes and find(value, layout.text, from, true) == from then
      place = from + #layout.text
      return true
    end
  end
  known = {}
  places, names = placesOf(value, from)
  return places
end
-- The position of a part of the record with this size; nothing where there is none.
local function placeOf(value, part, size)
  if places then
    known[part] = true
    return places[part]
  end
  local from = place
  if from then place = place + size end
  if place and place > #value + 1 then return nil end
  return from
end
local function figuresOf(value, part, form, size)
  local from = placeOf(value, part, size)
  if not from then return nil end
  return read(form, value, from)
end
local function areWhole(a, b, c)
  return a >= 0 and a <= MAX_EXACT and a % 1 == 0 and b >= 0 and b <= MAX_EXACT and b % 1 == 0
    and c >= 0 and c <= MAX_EXACT and c % 1 == 0
end
-- A count below 0 is 0, and mended.
local function lifted(figure)
  if not (figure < 0) then return figure end
  isMended = true
  return 0
end
-- The state of a limit from its figures, if any; nothing where they are not ours.
local function standBy(limit, a, b, c)
  local kind = limit.kind
  if not a then return kind.standBy(limit, 0, 0, 0) end
  if not areWhole(a, b, c) then
    a, b, c = lifted(a), lifted(b), lifted(c)
    if not areWhole(a, b, c) then return nil, NO_INTEGER end
  end
  local used, previous, elapsed, isAstray = kind.standBy(limit, a, b, c)
  if used == 0 and previous == 0 then return kind.standBy(limit, 0, 0, 0) end
  return used, previous, elapsed, isAstray
end
-- Charges each lease at the moment of its expiry, and returns the figures after that.
local function lapseInto(limit, a, b, c)
  local kind, now = limit.kind, limit.now
  for d = 1, dues do
    limit.now = floor(dueAt[d] * 1000 / limit.micros)
    local used, previous, elapsed = standBy(limit, a, b, c)
    if not used then a = MAX_EXACT + 1 break end
    a, b, c = kind.figures(limit, added(limit, used, dueHits[d]), previous, elapsed)
    c = c or 0
  end
  limit.now = now
  return a, b, c
end
local function standWindow(limit, at, used, last)
  local stood, _, ends_, isAstray = limit.kind.standBy(limit, used or 0, last)
  isMended = isMended or isAstray
  for d = 1, dues do
    if dueAt[d] >= limit.starts then stood = added(limit, stood, dueHits[d]) end
  end
  U[at], P[at], E[at] = stood, 0, ends_
end
local function standOwn(limit, at, a, b, c)
  if dues > 0 then a, b, c = lapseInto(limit, a, b, c) end
  local used, previous, elapsed, isAstray = standBy(limit, a, b, c)
  if not used then return previous end
  isMended = isMended or isAstray
  U[at], P[at], E[at] = used, previous, elapsed
end
-- The hits of a log, without the zeros that fill its last part; or, where there is none, those of the window that it was before.
local function logOf(limit, value)
  local live, p = nil, 1
  while true do
    local name = limit.names[p] or places and nameOfLog(limit.id, p)
    local from = name and placeOf(value, name, 64)
    if not from then break end
    live, p = (live or '') .. sub(value, from, from + 63), p + 1
  end
  if not live then
    local from = places and places[limit.heir]
    if not from then return '' end
    local window, before, count = read('<ddd', value, from)
    return areWhole(window, before, count) and limit.kind.ofWindow(limit, window, before, count) or nil
  end
  while sub(live, -8) == NO_HIT do live = sub(live, 1, -9) end
  return live
end
local function standLogLimit(limit, at, value)
  local live, lapsedHits = logOf(limit, value), 0
  if not live then return NO_INTEGER end
  for d = 1, dues do
    live = limit.kind.take(live, dueHits[d], floor(dueAt[d] * 1000 / limit.micros))
    lapsedHits = lapsedHits + dueHits[d]
  end
  local used, stood, _, isAstray = limit.kind.standLog(live, limit)
  if not used then return NO_INTEGER end
  isMended = isMended or isAstray
  U[at], P[at], E[at] = used, stood, 0
  logged[at] = max(0, used - lapsedHits)
end
local function standBlock(block, at, value)
  local strikes, span, until_, took, quiet = figuresOf(value, block.part, BLOCK, 40)
  if not strikes and places then
    strikes, span, until_, took, quiet = figuresOf(value, block.oldPart, BLOCK, 40)
  end
  if not strikes then
    KS[at], KE[at], KU[at], KT[at], KQ[at] = 0, 0, 0, 0, 0
    return
  end
  if not (areWhole(strikes, span, until_) and areWhole(took, quiet, 0)) then return NO_INTEGER end
  local latest, longest = nowMs + SPARE_MS, max(block.upTo, block.lasts)
  if until_ > latest + longest or span > latest + block.within or quiet > latest + longest then
    isMended = true
    until_, span = min(until_, nowMs + longest), min(span, nowMs + block.within)
    quiet = min(quiet, nowMs + longest)
  end
  KS[at], KE[at], KU[at], KT[at], KQ[at] = strikes, span, until_, took, quiet
end
local function standLimit(limit, at, value)
  if limit.isLog then return standLogLimit(limit, at, value) end
  local a, b, c = figuresOf(value, limit.part, limit.form, limit.bytes)
  if not limit.isWindow then return standOwn(limit, at, a, b, c) end
  if a and not areWhole(a, b, 0) then
    a, b = lifted(a), lifted(b)
    if not areWhole(a, b, 0) then return NO_INTEGER end
  end
  standWindow(limit, at, a, b)
end
-- Until when a part is needed that no rule of ours has: no longer than its key was kept for it.
local function endOfKey(limiter, name)
  if limiter.isReserving then return ends end
  local ms = pcall('PTTL', name)
  -- A user without the permission to read it keeps it for as long as a usual window may last.
  return nowMs + (type(ms) == 'number' and max(0, ms) or 31 * 86400000)
end
local function findStrays(limiter, name, value)
  local all, byId, ends_, last = {}, {}, {}, nil
  for _, part in ipairs(names) do
    if sub(part, 1, 1) == '~' then ends_[sub(part, 2, -3)] = read('<d', value, places[part]) end
  end
  for _, part in ipairs(names) do
    if not known[part] and sub(part, 1, 1) ~= '~' then
      local from = places[part]
      -- The parts of a log are one.
      local id = string.match(part, '^(l%d+)%+%d+ ') or sub(part, 1, -3)
      if not ends_[id] and not last then
        last, isEndless = endOfKey(limiter, name), true
      end
      local untilMs = ends_[id] or last
      if untilMs + SPARE_MS > nowMs and untilMs <= MAX_EXACT then
        local stray = byId[id]
        if not stray then
          stray = { id = id, untilMs = untilMs, isEndless = not ends_[id], layout = '', bytes = '' }
          byId[id], all[#all + 1] = stray, stray
        end
        stray.layout = stray.layout .. part .. ';'
        stray.bytes = stray.bytes .. sub(value, from, from + 8 * sub(part, -1) - 1)
      end
    end
  end
  if #all > MAX_STRAYS then
    table.sort(all, function(a, b) return a.untilMs > b.untilMs end)
    for k = #all, MAX_STRAYS + 1, -1 do all[k] = nil end
  end
  strays = #all > 0 and all or nil
end
local function standLimits(limiter, name, value)
  local limits, blocks = limiter.limits, limiter.blocks
  strays, isEndless = nil, false
  if not openRecord(limiter, value) then return NO_INTEGER end
  for j = 1, #limits do
    local wrong = not limits[j].isSlots and standLimit(limits[j], j, value)
    if wrong then return wrong end
  end
  for b = 1, #blocks do
    local wrong = standBlock(blocks[b], b, value)
    if wrong then return wrong end
  end
  if places then findStrays(limiter, name, value) end
end
-- Reads the counter at an index; returns the text of an error, if any.
local function standBudget(order, i)
  if noClock then return noClock end
  local name, limiter = nameOf[i], order.limiter
  held, open, runs, ends, was, isMet, lapsed = 0, 0, 0, 0, -1, false, 0
  gone, dues, recordAt, isMended, isOpenMended = nil, 0, 1, false, false
  if not limiter.isReserving then
    stored = pcall('GET', name)
    if stored and stored.err then return stored.err end
    return standLimits(limiter, name, stored)
  end
  local id = idOf[i]
  local found = id and pcall('HMGET', name, 's', id) or pcall('HMGET', name, 's')
  if found.err then return found.err end
  stored = found[1]
  local wrong = stored and standOpen(order, name, id, found[2])
  if wrong then return wrong end
  return standLimits(limiter, name, stored)
end
