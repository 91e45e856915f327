/**
 * Where a counter stands, in Lua: what `advance.ts`, `record.ts` and `stored.ts` of core/budgets say. The figures of the
 * counter that is being asked lie in locals of the script, so that nothing is made for a key: `U`, `P` and `E` of each limit
 * (used, previous, elapsed or the end of the window), `KS` to `KQ` of each block (see `BlockState`), and those of what is open.
 */
export const FIND_LUA = `
local U, P, E = {}, {}, {}
local KS, KE, KU, KT, KQ = {}, {}, {}, {}, {}
-- Where the part of the record stands that comes next; or, where the rule has changed, each part by its name.
local place, places
local function placesOf(value, from)
  local _, last, layout = find(value, '^([^\\n]*)\\n', from)
  if not last then return nil end
  local all, at = {}, last + 1
  for part, count in gmatch(layout, '([^ ;]+ (%d));') do
    all[part] = at
    at = at + 8 * count
  end
  return at == #value + 1 and all
end
-- Answers whether the record is ours.
local function openRecord(gate, value)
  place, places = nil, nil
  local from = value and recordAt or 1
  local size = value and #value - from + 1 or 0
  if size == 0 then return true end
  for _, layout in ipairs(gate.layouts) do
    if size == layout.bytes and find(value, layout.text, from, true) == from then
      place = from + #layout.text
      return true
    end
  end
  places = placesOf(value, from)
  return places
end
-- The figures of a part of the record; nothing where there is none.
local function figuresOf(value, part, form, size)
  local from = place or places and places[part]
  if not from then return nil end
  if place then place = place + size end
  if place and place > #value + 1 then return nil end
  return read(form, value, from)
end
local function isWhole(figure)
  return figure >= 0 and figure <= MOST and figure % 1 == 0
end
-- Where a limit stands by its figures, if any; nothing where they are not ours.
local function standBy(limit, a, b, c)
  if not a then return limit.kind.stand(false, limit) end
  if not (isWhole(a) and isWhole(b) and isWhole(c)) then return nil, NO_INTEGER end
  return limit.kind.standBy(limit, a, b, c)
end
-- Charges each lease at the moment of its end, and answers the figures after that.
local function lapseInto(limit, a, b, c)
  local kind, now = limit.kind, limit.now
  for d = 1, dues do
    limit.now = floor(dueAt[d] * 1000 / limit.micros)
    local used, previous, elapsed = standBy(limit, a, b, c)
    if not used then a = MOST + 1 break end
    a, b, c = kind.figures(limit, min(used + dueHits[d] * limit.unit, kind.most), previous, elapsed)
    c = c or 0
  end
  limit.now = now
  return a, b, c
end
local function standWindow(limit, at, used, last)
  if not used or last < limit.ends then used, last = 0, limit.ends end
  for d = 1, dues do
    if dueAt[d] >= limit.starts then used = min(used + dueHits[d], MOST) end
  end
  U[at], P[at], E[at] = used, 0, last
end
local function standOwn(limit, at, a, b, c)
  if dues > 0 then a, b, c = lapseInto(limit, a, b, c) end
  local used, previous, elapsed = standBy(limit, a, b, c)
  if not used then return previous end
  U[at], P[at], E[at] = used, previous, elapsed
end
local function standBlock(block, at, value)
  local strikes, span, until_, took, quiet = figuresOf(value, block.part, BLOCK, 40)
  if not strikes then
    KS[at], KE[at], KU[at], KT[at], KQ[at] = 0, 0, 0, 0, 0
    return
  end
  if not (isWhole(strikes) and isWhole(span) and isWhole(until_) and isWhole(took) and isWhole(quiet)) then
    return NO_INTEGER
  end
  KS[at], KE[at], KU[at], KT[at], KQ[at] = strikes, span, until_, took, quiet
end
local function standLimit(limit, at, value)
  local a, b, c = figuresOf(value, limit.part, limit.form, limit.bytes)
  if not limit.isWindow then return standOwn(limit, at, a, b, c) end
  if a and not (isWhole(a) and isWhole(b)) then return NO_INTEGER end
  standWindow(limit, at, a, b)
end
local function standLimits(gate, value)
  local limits, blocks = gate.limits, gate.blocks
  if not openRecord(gate, value) then return NO_INTEGER end
  for j = 1, #limits do
    local wrong = not limits[j].isSlots and standLimit(limits[j], j, value)
    if wrong then return wrong end
  end
  for b = 1, #blocks do
    local wrong = standBlock(blocks[b], b, value)
    if wrong then return wrong end
  end
end
-- Where the counter at a place stands; answers the text of an error, if any.
local function standBudget(order, i)
  if noClock then return noClock end
  local name, gate = nameOf[i], order.gate
  held, open, runs, ends, was, isMet, lapsed = 0, 0, 0, 0, -1, false, 0
  gone, dues, recordAt = nil, 0, 1
  if not gate.isReserving then
    stored = pcall('GET', name)
    if stored and stored.err then return stored.err end
    return standLimits(gate, stored)
  end
  local id = idOf[i]
  local found = id and pcall('HMGET', name, 's', id) or pcall('HMGET', name, 's')
  if found.err then return found.err end
  stored = found[1]
  local wrong = stored and standOpen(order, name, id, found[2])
  if wrong then return wrong end
  return standLimits(gate, stored)
end
`;
