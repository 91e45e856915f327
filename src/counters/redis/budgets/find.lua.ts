/**
 * Where a counter stands, in Lua: what `advance.ts`, `record.ts` and `stored.ts` of core/budgets say. The figures of the
 * counter that is being asked lie in locals of the script, so that nothing is made for a key: `U`, `P` and `E` of each limit
 * (used, previous, elapsed or the end of the window), `KS` to `KQ` of each block (see `BlockState`), and those of what is open.
 */
export const FIND_LUA = `
local U, P, E = {}, {}, {}
local KS, KE, KU, KT, KQ = {}, {}, {}, {}, {}
-- The part of the record that comes next.
local place, parts
local function partsOf(value)
  local all, at, size = {}, recordAt, #value
  while at <= size do
    local _, last, id = find(value, '^([^ ;]+) [%d ]+;', at)
    if not last then return nil end
    all[id] = sub(value, at, last)
    at = last + 1
  end
  return all
end
-- The figures of a part; true where there is none, nothing where it is not ours. Parts stand in the order of the rule, unless it changed.
local function figuresOf(value, form, id)
  if not value then return true end
  if not parts then
    local _, last, a, b, c, d, e = find(value, form, place)
    if last then
      place = last + 1
      return a, b, c, d, e
    end
    if place > #value then return true end
    parts = partsOf(value)
    if not parts then return nil end
  end
  if not parts[id] then return true end
  local _, _, a, b, c, d, e = find(parts[id], form)
  return a, b, c, d, e
end
-- Charges each lease at the moment of its end, and answers the text that says so.
local function lapseInto(limit, text)
  local kind, now, ready = limit.kind, limit.now, limit.ready
  local wrong
  for d = 1, dues do
    limit.now = floor(dueAt[d] * 1000 / limit.micros)
    limit.ready = kind.ready(limit)
    local used, previous, elapsed = kind.stand(text, limit)
    if not used then wrong = previous break end
    text = kind.text(limit, min(used + dueHits[d] * limit.unit, kind.most), previous, elapsed)
  end
  limit.now, limit.ready = now, ready
  if wrong then return nil, wrong end
  return text
end
local function standWindow(limit, at, used, last)
  if not used or last < limit.ends then used, last = 0, limit.ends end
  for d = 1, dues do
    if dueAt[d] >= limit.starts then used = min(used + dueHits[d], MOST) end
  end
  U[at], P[at], E[at] = used, 0, last
end
local function standOwn(limit, at, text)
  local wrong
  if dues > 0 then
    text, wrong = lapseInto(limit, text)
    if wrong then return wrong end
  end
  local used, previous, elapsed = limit.kind.stand(text, limit)
  if not used then return previous end
  U[at], P[at], E[at] = used, previous, elapsed
end
local function standBlock(block, at, value)
  local strikes, span, until_, took, quiet = figuresOf(value, block.form, block.id)
  if not strikes then return NO_INTEGER end
  if strikes == true then
    KS[at], KE[at], KU[at], KT[at], KQ[at] = 0, 0, 0, 0, 0
    return
  end
  KS[at], KE[at], KU[at] = tonumber(strikes), tonumber(span), tonumber(until_)
  KT[at], KQ[at] = tonumber(took), tonumber(quiet)
end
local function standLimit(limit, at, value)
  local used, last = figuresOf(value, limit.form, limit.id)
  if not used then return NO_INTEGER end
  if not limit.isWindow then return standOwn(limit, at, used ~= true and used) end
  standWindow(limit, at, tonumber(last) and tonumber(used), tonumber(last))
end
local function standLimits(gate, value)
  local limits, blocks = gate.limits, gate.blocks
  place, parts = recordAt, nil
  for j = 1, #limits do
    local wrong = not limits[j].isSlots and standLimit(limits[j], j, value)
    if wrong then return wrong end
  end
  for b = 1, #blocks do
    local wrong = standBlock(blocks[b], b, value)
    if wrong then return wrong end
  end
  -- What is left is of limits that the rule had before.
  if value and not parts and place <= #value and not partsOf(value) then return NO_INTEGER end
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
