import type { ScriptedKind } from '../../core/kinds/kind';
import type { RecordLua } from '../../core/kinds/kind.lua';
import { KINDS } from '../../core/kinds/kinds';
import { ADD, DECLARED, IN_ARGUMENTS, script, type KeyPlaces, type Script } from './lua';
import { LOG_LUA } from '../../core/kinds/sliding-log.lua';
import { SPARE_SECONDS } from '../../core/kinds/ticks';
import { NO_INTEGER } from './store-errors';

/** The head of scripts for kinds. Numbers are written with a format, because newer servers turn large ones into exponents. */
export const COMMON = `
local MAX_EXACT = 9007199254740991
local NO_INTEGER = '${NO_INTEGER}'
local find, format, floor, ceil, max, min = string.find, string.format, math.floor, math.ceil, math.max, math.min
-- Three times as fast as %.0f; exact where the server's C prints integers of 64 bits.
local WHOLE = format('%d', MAX_EXACT) == '9007199254740991' and '%d' or '%.0f'
local noClock
-- Counters of a wrong clock that were mended.
local mended = 0
${LOG_LUA}
-- A limit's figures at the current time: the tick of now, and those that a correct clock may have written.
local function setClock(limit, micros)
  limit.now = floor(micros / limit.micros)
  local most = limit.period + ${String(SPARE_SECONDS * 1_000_000)} / limit.micros
  limit.astray, limit.latest = -most, limit.now + most
end
local function failOne(after, size, text)
  -- Old entries are removed: a reader would take them for the numbers of the next key.
  after[size + 1], after[size + 2], after[size + 3] = text, nil, nil
  return size + 1
end
`;

/** Sets the state from the text \`value\`, which may be missing; \`fail\` is how the function ends on one that is not ours. */
function stand({ lua }: ScriptedKind, fail: string): string {
  return `
  local used, previous, elapsed, isSame, isAstray = 0, 0, 0, false, false
  if value then ${lua.decode.replaceAll('NOT_OURS()', fail)}
  else ${lua.absent} end`;
}

/** The names of the figures of a state in an answer. */
function figuresOf({ lua: { has } }: ScriptedKind): readonly string[] {
  return ['used', ...(has.previous ? ['previous'] : []), ...(has.elapsed ? ['elapsed'] : [])];
}

function millis({ life }: RecordLua): string {
  return `ceil((${life}) * order.micros / 1000) + 1000
  if ms > 315576000001000 then ms = 315576000001000 end`;
}

/** The functions of a kind, in a table under its letter. */
function functionsOf(kind: ScriptedKind): string {
  const { letter, readsFirst, lua } = kind;
  const { record } = lua;
  return `
KINDS.${letter} = {
  readsFirst = ${String(readsFirst)}, isCount = ${String(record === undefined)},
  unit = function(order) return ${lua.unit} end,
  stand = function(value, order) ${stand(kind, 'return nil, NO_INTEGER')}
  return used, previous, elapsed, isAstray
  end,
  free = function(order, used, previous, elapsed) return ${lua.free} end,
  put = function(after, size, used, previous, elapsed)
  ${put(kind)}
  end,
  ${record === undefined ? '' : recordFunctionsOf(kind, record)}
}
`;
}

/** Writes the figures of a state into the answer. */
function put(kind: ScriptedKind): string {
  if (kind.lua.isLog === true) return 'return putLog(after, size, previous)';
  const figures = figuresOf(kind);
  const lines = figures.map((name, at) => `after[size + ${String(at + 1)}] = ${name}`);
  return `${lines.join('\n  ')}\n  return size + ${String(figures.length)}`;
}

function recordFunctionsOf(kind: ScriptedKind, record: RecordLua): string {
  const { isLog = false } = kind.lua;
  const take = `take = function(order, live, hits) return takeIntoLog(live, hits, order.now) end,`;
  return `
  most = ${record.most},
  ${isLog ? take : ''}
  ready = function(order) return ${record.ready ?? 'nil'} end,
  write = function(key, order, used, previous, elapsed)
  local text = ${record.encode}
  local ms = ${millis(record)}
  return pcall('PSETEX', key, format(WHOLE, ms), text).err
  end,
  ${isLog ? '' : `one = ${oneCharge(kind, record)}`}`;
}

/**
 * A single charge, the common case, without the calls and tables of the general way: it answers into the list after index `size`
 * and returns its new length.
 */
function oneCharge(kind: ScriptedKind, record: RecordLua): string {
  const { lua } = kind;
  const figures = figuresOf(kind);
  const end = `size + ${String(figures.length)}`;
  const names = figures.map((name, at) => `after[size + ${String(at + 1)}] = ${name}`);
  const inPlace = `if ${record.inPlace ?? ''} then
    local done = pcall('SETRANGE', key, '0', text)
    if type(done) == 'number' then return ${end} end
    return failOne(after, size, done.err)
  end`;
  return `function(key, order, after, size)
  local value = pcall('GET', key)
  if value and value.err then return failOne(after, size, value.err) end
  ${stand(kind, 'return failOne(after, size, NO_INTEGER)')}
  ${names.join('\n  ')}
  if ${lua.free} >= order.cost then used = used + order.step
  elseif not isAstray then return ${end} end
  if isAstray then mended = mended + 1 end
  local text = ${record.encode}
  ${record.inPlace === undefined ? '' : inPlace}
  local ms = ${millis(record)}
  local done = pcall('PSETEX', key, format(WHOLE, ms), text)
  if not done.err then return ${end} end
  return failOne(after, size, done.err)
  end,`;
}

/** Charges one key. Returns the text of an error, if any. */
const CHARGE = `
local function stand(key, order)
  if noClock and not order.kind.isCount then return nil, noClock end
  local value = pcall('GET', key)
  if type(value) == 'table' then return nil, value.err end
  return order.kind.stand(value, order)
end
local function charge(key, order, ttl, used, previous, elapsed, isAstray)
  local hits, charged = order.hits, 1
  if hits == 0 and not isAstray then return end
  if order.charging then charged = order.times
  elseif hits > order.size then charged = 0
  elseif hits > 0 then
    local free = order.kind.free(order, used, previous, elapsed)
    charged = free < order.cost and 0 or min(order.times, floor(free / order.cost))
  end
  if isAstray then mended = mended + 1
  elseif charged == 0 then return end
  if order.kind.isCount then
    local count = add(key, charged == 1 and order.text or format(WHOLE, charged * hits), ttl)
    return type(count) == 'string' and count
  end
  if order.undo and order.kind.undo then
    used, previous = order.kind.undo(order, used, previous, elapsed, -hits, floor(order.undo / order.micros))
  elseif order.kind.take then previous = order.kind.take(order, previous, charged * hits)
  else used = max(0, min(used + charged * order.step, order.kind.most)) end
  if previous ~= '' and (used > 0 or previous ~= 0) then
    return order.kind.write(key, order, used, previous, elapsed)
  end
  local done = pcall('DEL', key)
  return type(done) == 'table' and done.err
end
`;

/** The functions of all kinds of the table; they need those of `COMMON`. */
export const KIND_TABLE = `
local KINDS = {}
${KINDS.map(functionsOf).join('')}${CHARGE}`;

/** Sets `micros`, the time of the call, three places before the arguments at `at`; or `noClock`. */
export const CLOCK = `local micros = tonumber(ARGV[at - 2])
if not micros then
  if redis.replicate_commands then redis.replicate_commands() end
  local time = pcall('TIME')
  if time.err then
    noClock, micros = 'ERR the clock of the server: ' .. time.err, 0
  else
    micros = time[1] * 1000000 + time[2]
  end
end`;

/**
 * Arguments: the time in microseconds (empty: the server's clock), the number of orders, the eight fields of each (see
 * `readOrder`), then for each key the number of its order and, for those that count with INCRBY, their time to live; last the end
 * (inclusive) of every run, if requests are decided together.
 *
 * Answers two lists: for each key the figures of its counter before its charges (see `KindLua.has`) or, for a kind that does not
 * read first, the count after them, or the text of an error; and the indices (from 1) of increments held back; then the time of the
 * call in microseconds, and how many counters were mended.
 */
function kindsScript({ count, key, skip }: KeyPlaces): Script {
  return script(`${ADD}${COMMON}${KIND_TABLE}
local n = ${count}
local at = ${skip} + 3
${CLOCK}
local function readOrder(at)
  local kind, text = KINDS[ARGV[at]], ARGV[at + 6]
  local drain, size, period = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local tick, hits = tonumber(ARGV[at + 4]), tonumber(text)
  local order = {
    kind = kind, drain = drain, size = size, period = period, micros = tick,
    charging = ARGV[at + 5] == '1', text = text, hits = hits,
    times = tonumber(ARGV[at + 7]), capacity = size * period, cost = hits * period
  }
  setClock(order, micros)
  order.step = hits * kind.unit(order)
  if kind.isCount then return order end
  order.ready = kind.ready(order)
  local isOne = order.times == 1 and hits > 0 and hits <= size and not order.charging
  if isOne and not noClock then order.one = kind.one end
  return order
end
local orders = {}
for i = 1, tonumber(ARGV[at - 1]) do
  orders[i] = readOrder(at)
  at = at + 8
end
local orderOf, ttlOf = {}, {}
for i = 1, n do
  local order = orders[tonumber(ARGV[at])]
  orderOf[i] = order
  at = at + 1
  if order.kind.isCount then
    ttlOf[i] = ARGV[at]
    at = at + 1
  end
end
local after, held, size = {}, {}, 0
local function fail(text)
  size = size + 1
  after[size] = text
end
local function put(order, used, previous, elapsed)
  size = order.kind.put(after, size, used, previous, elapsed)
end
local function apply(key, order, ttl)
  if not order.kind.readsFirst then return fail(add(key, order.text, ttl)) end
  local used, previous, elapsed, isAstray = stand(key, order)
  if not used then return fail(previous) end
  local wrong = charge(key, order, ttl, used, previous, elapsed, isAstray)
  if wrong then return fail(wrong) end
  put(order, used, previous, elapsed)
end
local function isOver(order, used, previous, elapsed)
  if order.hits > 0 then
    return order.hits > order.size or order.cost > order.kind.free(order, used, previous, elapsed)
  end
  return order.kind.free(order, math.max(0, used + order.step), previous, elapsed) < 0
end
local function applyRun(first, last)
  local standing, over, isAnyOver = {}, {}, false
  for i = first, last do
    local order = orderOf[i]
    local used, previous, elapsed = stand(${key}, order)
    if used then
      standing[i] = { used, previous, elapsed }
      if isOver(order, used, previous, elapsed) then over[i], isAnyOver = true, true end
    end
  end
  for i = first, last do
    local stood = standing[i]
    if isAnyOver and stood and not over[i] then
      held[#held + 1] = i
      put(orderOf[i], stood[1], stood[2], stood[3])
    else
      apply(${key}, orderOf[i], ttlOf[i])
    end
  end
end
if not ARGV[at] then
  for i = 1, n do
    local order = orderOf[i]
    if order.one then size = order.one(${key}, order, after, size)
    else apply(${key}, order, ttlOf[i]) end
  end
end
local first = 1
for r = at, #ARGV do
  local last = tonumber(ARGV[r])
  applyRun(first, last)
  first = last + 1
end
return answer({after, held, format(WHOLE, micros), mended})
`);
}

/** One script for all kinds, also for requests that are decided together; the second declares no keys (a cluster). */
export const KIND_SCRIPTS = {
  declaring: kindsScript(DECLARED),
  cluster: kindsScript(IN_ARGUMENTS),
} as const;
