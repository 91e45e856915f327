import { KINDS } from '../../../core/kinds/kinds';
import { ADD, DECLARED, IN_ARGUMENTS, script, type KeyPlaces, type Script } from '../lua';
import { CLOCK, KIND_FUNCTIONS } from '../lua-kinds';
import { COMMIT_LUA } from './commit.lua';
import { FIND_LUA } from './find.lua';
import { OPEN_LUA } from './open.lua';
import { SAVE_LUA } from './save.lua';

/** What the record keeps of a state, and for how long; the other script has texts in its writes. */
const FORMS = KINDS.map(({ letter, lua: { own } }) =>
  own === undefined
    ? ''
    : `
KINDS.${letter}.count = ${String(own.kept.length)}
KINDS.${letter}.standBy = function(order, ${own.kept.join(', ')})
  local used, previous, elapsed, isSame = 0, 0, 0, false
  ${own.advance.replaceAll('NOT_OURS()', 'return nil, NO_INTEGER')}
  return used, previous, elapsed
end
KINDS.${letter}.figures = function(order, used, previous, elapsed) return ${own.figures.join(', ')} end
KINDS.${letter}.life = function(order, used, previous, elapsed) return ${own.life} end`,
).join('');

/**
 * Arguments, where those of `kindsScript` are not enough: the time in microseconds (empty: the server's clock) and that of this
 * process in milliseconds; the number of gates, and their figures (see `readGate`); the number of orders, and the fields of each
 * (see `readOrder`); for each increment the number of its order, then of a count its time to live, and of a reservation the field
 * of its id (empty: none) and hits; last the ends of the runs.
 *
 * Answers three lists: the figures of each counter as its asks found it (see `putBudget`), or the text of an error; the places
 * of what was held back; and the time of the call in microseconds.
 */
function budgetScript({ count, key, skip }: KeyPlaces): Script {
  return script(`${ADD}${KIND_FUNCTIONS}${FORMS}
local n = ${count}
local at = ${skip} + 3
${CLOCK}
local min, max, gmatch, sub = math.min, math.max, string.gmatch, string.sub
local packed, read = struct.pack, struct.unpack
local BLOCK = '>ddddd'
local nowMs, processMs = floor(micros / 1000), tonumber(ARGV[at - 1])
local nameOf, idOf, hitsOf, orderOf, ttlOf = {}, {}, {}, {}, {}
${OPEN_LUA}${FIND_LUA}${COMMIT_LUA}${SAVE_LUA}
local function take()
  at = at + 1
  return ARGV[at - 1]
end
local function takeNumber()
  return tonumber(take())
end
local function paced(order)
  order.now, order.capacity = floor(micros / order.micros), order.size * order.period
  order.unit = order.kind.unit(order)
  if not order.kind.isCount then order.ready = order.kind.ready(order) end
  return order
end
local function readLimit()
  local limit = { id = take(), kind = take(), size = takeNumber(), isCharging = take() == '1' }
  if limit.kind == 'i' then
    limit.isSlots = true
    return limit
  end
  limit.kind = KINDS[limit.kind]
  limit.limit, limit.period, limit.micros = takeNumber(), takeNumber(), takeNumber()
  local count = 2
  if limit.kind.isCount then
    limit.isWindow, limit.most = true, MOST
    limit.starts, limit.ends, limit.lasts = takeNumber() * 1000, takeNumber(), takeNumber() * 1000
  else
    limit.most, count = limit.kind.most, limit.kind.count
  end
  limit.part, limit.bytes, limit.form = limit.id .. ' ' .. count, 8 * count, '>' .. ('d'):rep(count)
  return paced(limit)
end
-- A record without what blocks say, where there is nothing to say, and one with it.
local function addLayouts(gate)
  local text, size = '', 0
  local function extend(parts)
    for _, one in ipairs(parts) do
      if one.part then text, size = text .. one.part .. ';', size + one.bytes end
    end
    gate.layouts[#gate.layouts + 1] = { text = text .. '\\n', size = #text + 1 + size }
  end
  extend(gate.limits)
  if #gate.blocks > 0 then extend(gate.blocks) end
end
local function readGate()
  local flags = take()
  local gate = { limits = {}, blocks = {}, layouts = {}, lease = takeNumber() }
  gate.isReserving, gate.isReleased = find(flags, 'r') ~= nil, find(flags, 'l') ~= nil
  gate.isForced, gate.isShadow = find(flags, 'f') ~= nil, find(flags, 's') ~= nil
  for j = 1, takeNumber() do gate.limits[j] = readLimit() end
  for b = 1, takeNumber() do
    local id = take()
    gate.blocks[b] = {
      part = id .. ' 5', bytes = 40,
      after = takeNumber(), within = takeNumber(), lasts = takeNumber(), upTo = takeNumber(), limit = takeNumber()
    }
  end
  addLayouts(gate)
  return gate
end
local gates = {}
local function readOrder()
  local letter, holds, text = take(), take() == '1', take()
  local order = { holds = holds, text = text, hits = tonumber(text), times = takeNumber() }
  if letter == 'b' then
    order.gate, order.mode = gates[takeNumber()], take()
    return order
  end
  order.kind, order.charging = KINDS[letter], take() == '1'
  order.limit, order.size, order.period, order.micros = takeNumber(), takeNumber(), takeNumber(), takeNumber()
  paced(order)
  order.cost, order.step = order.hits * order.period, order.hits * order.unit
  return order
end
local function putBudget(gate, after, size)
  for j = 1, #gate.limits do
    local limit = gate.limits[j]
    if limit.isWindow then
      after[size + 1], after[size + 2] = U[j], E[j]
      size = size + 2
    elseif not limit.isSlots then
      size = limit.kind.put(after, size, U[j], P[j], E[j])
    end
  end
  if gate.isReserving then
    size = size + 1
    after[size] = (open > 0 or lapsed > 0) and 1 or 0
    if after[size] == 1 then
      after[size + 1], after[size + 2], after[size + 3], after[size + 4] = held, open, was, lapsed
      size = size + 4
    end
  end
  for b = 1, #gate.blocks do
    size = size + 1
    after[size] = KQ[b]
    if KQ[b] > 0 then
      after[size + 1], after[size + 2], after[size + 3], after[size + 4] = KS[b], KE[b], KU[b], KT[b]
      size = size + 4
    end
  end
  return size
end
for i = 1, takeNumber() do gates[i] = readGate() end
local orders = {}
for i = 1, takeNumber() do orders[format('%d', i)] = readOrder() end
for i = 1, n do
  local order = orders[take()]
  orderOf[i], nameOf[i], hitsOf[i] = order, ${key}, order.hits
  if order.gate then
    if order.mode ~= 'a' then
      local id = take()
      if id ~= '' then idOf[i] = id end
      hitsOf[i] = takeNumber()
    end
  elseif order.kind.isCount then
    ttlOf[i] = take()
  end
end
local after, heldBack, size = {}, {}, 0
local function fail(from, text)
  for k = size, from + 1, -1 do after[k] = nil end
  size = from + 1
  after[size] = text
end
local function applyBudget(order, i)
  local from = size
  local wrong = standBudget(order, i)
  if not wrong then
    size = putBudget(order.gate, after, size)
    wrong = saveBudget(order, i)
  end
  if wrong then fail(from, wrong) end
end
local function apply(i)
  local order = orderOf[i]
  if order.gate then return applyBudget(order, i) end
  if not order.kind.looks then return fail(size, add(nameOf[i], order.text, ttlOf[i])) end
  local used, previous, elapsed = stand(nameOf[i], order)
  if not used then return fail(size, previous) end
  local wrong = charge(nameOf[i], order, ttlOf[i], used, previous, elapsed)
  if wrong then return fail(size, wrong) end
  size = order.kind.put(after, size, used, previous, elapsed)
end
-- Whether hits that were given back are over all the same; no block refuses them.
local function isInDebt(gate)
  for j = 1, #gate.limits do
    local limit = gate.limits[j]
    if not limit.isSlots and freeOf(limit, j) < 0 then return true end
  end
  return false
end
-- What is seen of a counter: its figures, undefined where it cannot be read, and whether it refuses its ask.
local function look(i)
  local order, seen = orderOf[i], {}
  local hits = hitsOf[i]
  if order.gate then
    if standBudget(order, i) then return end
    putBudget(order.gate, seen, 0)
    if hits >= 0 or order.mode ~= 'a' then return seen, (judge(order, max(hits, 0))) end
    takeAll(order.gate, hits)
    return seen, isInDebt(order.gate)
  end
  local used, previous, elapsed = stand(nameOf[i], order)
  if not used then return end
  order.kind.put(seen, 0, used, previous, elapsed)
  if hits > 0 then
    return seen, hits > order.size or order.cost > order.kind.free(order, used, previous, elapsed)
  end
  return seen, order.kind.free(order, max(0, used + order.step), previous, elapsed) < 0
end
-- What ends a reservation is done whatever the others say.
local function isEnding(mode)
  return mode == 's' or mode == 'h' or mode == 'c'
end
local function applyRun(first, last)
  local seen, over, isAnyOver = {}, {}, false
  for i = first, last do
    seen[i], over[i] = look(i)
    isAnyOver = isAnyOver or over[i] and orderOf[i].holds
  end
  for i = first, last do
    if isAnyOver and seen[i] and not over[i] and not isEnding(orderOf[i].mode) then
      heldBack[#heldBack + 1] = i
      for _, figure in ipairs(seen[i]) do
        size = size + 1
        after[size] = figure
      end
    else
      apply(i)
    end
  end
end
if not ARGV[at] then
  for i = 1, n do apply(i) end
end
local from = 1
for r = at, #ARGV do
  local last = tonumber(ARGV[r])
  applyRun(from, last)
  from = last + 1
end
return answer({after, heldBack, format(WHOLE, micros)})
`);
}

/** One script for batches with budgets; the second declares no keys (a cluster). */
export const BUDGET_SCRIPTS = {
  declaring: budgetScript(DECLARED),
  cluster: budgetScript(IN_ARGUMENTS),
} as const;
