import { MAX_LAPSES } from '../../../core/budgets/budget';

/** More runs than a rule has leases in turn, or a clock that goes back. */
const MAX_RUNS = 8;

/**
 * A counter with reservations, in Lua (budgets.md section 8), is a hash. Its field `s` has the runs of numbers that open
 * reservations have, when the key ends, the hits that are held, how many are open, the figures of each run, and the record of
 * limits and blocks. The numbers of a run are given in the order in which its leases end, and a field of each number says the
 * end, the hits and the field of the id; so those that are over are found without an index. Figures are doubles, which Lua packs
 * and reads ten times as fast as text, but fields of numbers are big-endian: those from 1 on begin with no `=`, as fields of ids do.
 */
export const OPEN_LUA = `
local byte = string.byte
-- The field s, and where the record begins in it; or all of a value that is a record alone.
local stored, recordAt
local _
local held, open, runs, ends, was, isMet, lapsed
-- Of each run: the first number that may be open, the next to be given, the end of the first (or earlier) and of the last lease.
local heads, nexts, firsts, lasts = {}, {}, {}, {}
local number
-- Leases that are over: their fields, and by the moment of their end, where these are charged, the hits.
local gone, dues
local dueAt, dueHits = {}, {}
local function noteLapse(gate, hits, moment)
  lapsed, open = lapsed + hits, open - 1
  if gate.isReleased then return end
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
-- Passes the numbers of a run whose leases are over, and those that are no longer open; at most so many.
local function passRun(gate, name, r, most)
  local from = heads[r]
  local count, numbers = min(most, nexts[r] - from), {}
  for i = 1, count do numbers[i] = packed('>d', from + i - 1) end
  local values = pcall('HMGET', name, unpack(numbers))
  if values.err then return nil, values.err end
  for i = 1, count do
    local value = values[i]
    if value then
      if #value < 18 then return nil, NO_INTEGER end
      local due, hits = read('<dd', value)
      if due > nowMs then
        heads[r], firsts[r] = from + i - 1, due
        return count
      end
      local id, size = sub(value, 17), #gone
      gone[size + 1], gone[size + 2], gone[id] = id, numbers[i], true
      noteLapse(gate, hits, due)
    end
  end
  heads[r] = from + count
  return count
end
local function findLapses(gate, name)
  local left, kept = ${String(MAX_LAPSES)}, 0
  for r = 1, runs do
    if firsts[r] <= nowMs and left > 0 then
      gone = gone or {}
      local passed, wrong = passRun(gate, name, r, left)
      if wrong then return wrong end
      left = left - passed
    end
    if heads[r] < nexts[r] then
      kept = kept + 1
      heads[kept], nexts[kept], firsts[kept], lasts[kept] = heads[r], nexts[r], firsts[r], lasts[r]
    end
  end
  runs, open, held = kept, max(0, open), max(0, held - lapsed)
  if runs > 0 then return end
  -- No lease is left that could end it: it ends now.
  if open > 0 then noteLapse(gate, held, nowMs) end
  held, open = 0, 0
end
local function standOpen(order, name, id, own)
  if #stored < 25 then return NO_INTEGER end
  runs = byte(stored)
  recordAt = 26 + 32 * runs
  if #stored < recordAt - 1 then return NO_INTEGER end
  local isOver
  if runs == 1 then
    _, ends, held, open, heads[1], nexts[1], firsts[1], lasts[1] = read('<Bddddddd', stored)
    isOver = firsts[1] <= nowMs
  else
    _, ends, held, open = read('<Bddd', stored)
    for r = 1, runs do
      heads[r], nexts[r], firsts[r], lasts[r] = read('<dddd', stored, 32 * r - 6)
      isOver = isOver or firsts[r] <= nowMs
    end
  end
  if isOver then
    local wrong = findLapses(order.gate, name)
    if wrong then return wrong end
  end
  if not own or open == 0 or gone and gone[id] then return end
  if #own ~= 17 then return NO_INTEGER end
  local hits, at, met = read('<dc8B', own)
  -- A call that came back has its caller.
  if met == 1 and order.mode == 'c' then return end
  was, number, isMet = hits, at, met == 1
end
-- The number and the end of the lease of one more.
local function enqueue(gate)
  local due, chosen, top, soonest = nowMs + gate.lease, nil, 1, 1
  for r = 1, runs do
    local last = lasts[r]
    if last <= due and (not chosen or last > lasts[chosen]) then chosen = r end
    if last < lasts[soonest] then soonest = r end
    top = max(top, nexts[r] + 2 ^ 40)
  end
  if not chosen and runs == ${String(MAX_RUNS)} then
    chosen, due = soonest, lasts[soonest]
  elseif not chosen then
    runs, chosen = runs + 1, runs + 1
    heads[chosen], nexts[chosen], firsts[chosen] = top, top, due
  end
  local at = nexts[chosen]
  nexts[chosen], lasts[chosen] = at + 1, due
  return at, due
end
local function openText()
  if open == 0 then return packed('<Bddd', 0, ends, 0, 0) end
  if runs == 1 then return packed('<Bddddddd', 1, ends, held, open, heads[1], nexts[1], firsts[1], lasts[1]) end
  local text = packed('<Bddd', runs, ends, held, open)
  for r = 1, runs do text = text .. packed('<dddd', heads[r], nexts[r], firsts[r], lasts[r]) end
  return text
end
`;
