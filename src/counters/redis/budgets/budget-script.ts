import { KINDS } from '../../../core/kinds/kinds';
import { ADD, DECLARED, IN_ARGUMENTS, script, type KeyPlaces, type Script } from '../lua';
import { CLOCK, COMMON, KIND_TABLE } from '../lua-kinds';
import { SPARE_SECONDS } from '../../../core/kinds/ticks';
import { argumentsLua } from './arguments.lua';
import { COMMIT_LUA } from './commit.lua';
import { FIND_LUA } from './find.lua';
import { ONE_LIMIT_LUA } from './one-limit.lua';
import { OPEN_LUA } from './open.lua';
import { RUN_LUA } from './run.lua';
import { SAVE_LUA } from './save.lua';

/** The stored figures of a state, and its lifetime; the other script writes texts. */
const FORMS = KINDS.map(({ letter, lua: { record, isLog } }) =>
  record === undefined
    ? ''
    : isLog === true
      ? undoFunction(letter, record.undo)
      : `
KINDS.${letter}.count = ${String(record.kept.length)}
KINDS.${letter}.standBy = function(order, ${record.kept.join(', ')})
  local used, previous, elapsed, isSame, isAstray = 0, 0, 0, false, false
  ${record.advance.replaceAll('NOT_OURS()', 'return nil, NO_INTEGER')}
  return used, previous, elapsed, isAstray
end
KINDS.${letter}.figures = function(order, used, previous, elapsed) return ${record.figures.join(', ')} end
KINDS.${letter}.life = function(order, used, previous, elapsed) return ${record.life} end
${undoFunction(letter, record.undo)}`,
).join('');

/** Undoes what was charged at a tick, which may be in another window than the current one. */
function undoFunction(letter: string, undo: string): string {
  return `
KINDS.${letter}.undo = function(order, used, previous, elapsed, hits, tick)
  ${undo}
  return used, previous
end`;
}

/** What limiters and orders are in the general way. */
const COMPLETE = `
local function complete(order)
  order.kind = KINDS[order.letter]
  order.unit = order.kind.unit(order)
  if not order.kind.isCount then order.ready = order.kind.ready(order) end
end
for _, limiter in ipairs(limiters) do
  for _, limit in ipairs(limiter.limits) do
    if not limit.isSlots then
      complete(limit)
      limit.most = limit.isWindow and MAX_EXACT or limit.kind.most
    end
  end
end
for _, order in pairs(orders) do
  if not order.limiter then
    complete(order)
    order.cost, order.step = order.hits * order.period, order.hits * order.unit
  end
end
`;

/**
 * Arguments, where those of `kindsScript` do not suffice: the time in microseconds (empty: the server's clock) and that of this
 * process in milliseconds; the number of limiters, and their figures (see `readLimiter`); the number of orders, and the fields of each
 * (see `readOrder`); the number of runs, and their ends; then for each increment the number of its order, for a count its time to
 * live, and for a reservation the field of its id (empty: none) and hits.
 *
 * Answers three lists: the figures of each counter before its charges (see `putBudget`), or the text of an error; the indices of
 * increments held back; and the time of the call in microseconds.
 */
function budgetScript(places: KeyPlaces): Script {
  return script(`${ADD}${COMMON}
local n = ${places.count}
local at = ${places.skip} + 3
${CLOCK}
local gmatch, sub = string.gmatch, string.sub
local packed, read = struct.pack, struct.unpack
local BLOCK, LONGEST, SPARE_MS = '<ddddd', 315576000001000, ${String(SPARE_SECONDS * 1_000)}
local function nameOfLog(limit, p)
  return limit.id .. (p > 1 and '+' .. p - 1 or '') .. ' 8'
end
local nowMs, processMs = floor(micros / 1000), tonumber(ARGV[at - 1])
local limiters, orders, runEnds = {}, {}, {}
local nameOf, idOf, hitsOf, orderOf, ttlOf = {}, {}, {}, {}, {}
local after, heldBack, size = {}, {}, 0
local function fail(from, text)
  for k = size, from + 1, -1 do after[k] = nil end
  size = from + 1
  after[size] = text
end
local function expireAt(name, ends)
  local done = pcall('PEXPIRE', name, format(WHOLE, ends - nowMs))
  return type(done) == 'table' and done.err
end
${ONE_LIMIT_LUA}${argumentsLua(places)}
-- The general way. Making its functions costs as much as ten charges, so they are made when the first charge needs them.
local function general()
${KIND_TABLE}${FORMS}${COMPLETE}${OPEN_LUA}${FIND_LUA}${COMMIT_LUA}${SAVE_LUA}${RUN_LUA}
  return apply, applyRun
end
local apply, applyRun
local function applyOne(i)
  readCharge(i)
  if not apply then apply = general() end
  apply(i)
end
if #runEnds > 0 then
  for i = 1, n do readCharge(i) end
  apply, applyRun = general()
end
local from = 1
for _, last in ipairs(runEnds) do
  applyRun(from, last)
  from = last + 1
end
for i = from, n do
  local order = orders[ARGV[at]]
  if not order.one then applyOne(i)
  else
    local before, isDone, wrong = size, order.one(order.mode, ${places.key}, ARGV[at + 1], tonumber(ARGV[at + 2]))
    if not isDone then applyOne(i)
    else
      at = at + 3
      if wrong then fail(before, wrong) end
    end
  end
end
return answer({after, heldBack, format(WHOLE, micros), mended})
`);
}

/** One script for batches with budgets; the second declares no keys (a cluster). */
export const BUDGET_SCRIPTS = {
  declaring: budgetScript(DECLARED),
  cluster: budgetScript(IN_ARGUMENTS),
} as const;
