import { ADD, DECLARED, IN_ARGUMENTS, script, type KeyPlaces, type Script } from './lua';
import { ONE_ASK } from './lua-one-ask';
import { NO_INTEGER } from './store-errors';

/**
 * The arithmetic of `src/core/algorithms`, as far as a write needs it; the names are the same. The value of a gcra counter
 * is `units tick`, that of a sliding window `window previous used`, in decimal digits. Numbers are written with a
 * format, because newer servers turn large ones into exponents.
 */
const STANDING = `
local MOST = 9007199254740991
local MOST_HITS_OF_WINDOW = 100000000
local NOT_OURS = '${NO_INTEGER}'
local find, format, floor, ceil = string.find, string.format, math.floor, math.ceil
-- Three times as fast as %.0f; exact where the server's C prints integers of 64 bits.
local WHOLE = format('%d', MOST) == '9007199254740991' and '%d' or '%.0f'
local WINDOWS = WHOLE .. ' ' .. WHOLE .. ' ' .. WHOLE
local function standOfGcra(value, order)
  if not value then return 0, 0, 0 end
  local _, _, used, tick = find(value, '^(%d+) (%d+)$')
  used, tick = tonumber(used), tonumber(tick)
  if not used or used > MOST or tick > MOST then return nil, NOT_OURS end
  local elapsed = order.now - tick
  if elapsed <= 0 then return used, 0, elapsed end
  used = used - elapsed * order.limit
  if used < 0 then used = 0 end
  return used, 0, 0
end
local function standOfWindows(value, order)
  local now, period = order.now, order.period
  if not value then return 0, 0, now % period end
  local _, _, window, previous, used = find(value, '^(%d+) (%d+) (%d+)$')
  window, previous, used = tonumber(window), tonumber(previous), tonumber(used)
  if not used or window * period > MOST then return nil, NOT_OURS end
  if previous > MOST_HITS_OF_WINDOW or used > MOST_HITS_OF_WINDOW then return nil, NOT_OURS end
  local elapsed = now - window * period
  if elapsed < period then return used, previous, elapsed end
  if elapsed < 2 * period then return 0, used, elapsed - period end
  return 0, 0, elapsed % period
end
local function standOfCount(value)
  if not value then return 0, 0, 0 end
  local count = find(value, '^%-?%d+$') and tonumber(value)
  if not count or count > 2 ^ 63 then return nil, NOT_OURS end
  return math.max(0, count), 0, 0
end
local noClock
local function stand(key, order)
  if noClock and not order.isCount then return nil, noClock end
  local value = pcall('GET', key)
  if type(value) == 'table' then return nil, value.err end
  if order.kind == 'g' then return standOfGcra(value, order) end
  if order.kind == 's' then return standOfWindows(value, order) end
  return standOfCount(value)
end
local function freeUnits(order, used, previous, elapsed)
  if order.kind == 'g' then return order.capacity - used end
  local fading = 0
  if previous > 0 then fading = previous * (order.period - math.max(0, elapsed)) end
  return order.capacity - fading - used * order.period
end
`;

/** Charges the asks of one key. Answers the text of an error, if any. */
const CHARGE = `
local function write(key, order, used, previous, elapsed)
  local value, ticks
  if used == 0 and previous == 0 then
    local done = pcall('DEL', key)
    return type(done) == 'table' and done.err
  elseif order.kind == 'g' then
    value = format(WHOLE .. ' ' .. WHOLE, used, order.now - elapsed)
    ticks = ceil(used / order.limit)
  else
    value = format(WINDOWS, (order.now - elapsed) / order.period, previous, used)
    ticks = 2 * order.period
  end
  local ms = math.min(ceil((ticks - elapsed) * order.micros / 1000), 315576000000000) + 1000
  return pcall('PSETEX', key, format(WHOLE, ms), value).err
end
local function charge(key, order, ttl, used, previous, elapsed)
  local hits, charged = order.hits, 1
  if hits == 0 then return end
  if order.charging then charged = order.times
  elseif hits > order.size then return
  elseif hits > 0 then
    local free = freeUnits(order, used, previous, elapsed)
    if free < order.cost then return end
    charged = math.min(order.times, floor(free / order.cost))
  end
  if order.kind == 'f' then
    local count = add(key, charged == 1 and order.text or format(WHOLE, charged * hits), ttl)
    return type(count) == 'string' and count
  end
  used = math.max(0, math.min(used + charged * order.step, order.most))
  return write(key, order, used, previous, elapsed)
end
`;

/**
 * Arguments: the time in microseconds (empty: the server's clock), the number of orders, the eight fields of each (see
 * `readOrder`), then for each key the number of its order and, for those that count with INCRBY, their time to live; last
 * the end (inclusive) of every run, if requests are decided together.
 *
 * Answers two lists: for each key where its counter stood before its asks (gcra: used, elapsed; sliding window: used,
 * previous, elapsed; fixed window: the count) or, for a fixed window that charges what it refuses, the count after them, or
 * the text of an error; and the places (from 1) of what was held back.
 */
function algorithmScript({ count, key, skip }: KeyPlaces): Script {
  return script(`${ADD}${STANDING}${CHARGE}${ONE_ASK}
local n = ${count}
local at = ${skip} + 3
local micros = tonumber(ARGV[at - 2])
if not micros then
  if redis.replicate_commands then redis.replicate_commands() end
  local time = pcall('TIME')
  if time.err then
    noClock, micros = 'ERR the clock of the server: ' .. time.err, 0
  else
    micros = time[1] * 1000000 + time[2]
  end
end
local function readOrder(at)
  local kind, text = ARGV[at], ARGV[at + 6]
  local limit, size, period = tonumber(ARGV[at + 1]), tonumber(ARGV[at + 2]), tonumber(ARGV[at + 3])
  local tick, hits = tonumber(ARGV[at + 4]), tonumber(text)
  return {
    kind = kind, limit = limit, size = size, period = period, micros = tick,
    now = floor(micros / tick), charging = ARGV[at + 5] == '1', text = text, hits = hits,
    times = tonumber(ARGV[at + 7]), capacity = size * period, cost = hits * period,
    step = kind == 'g' and hits * period or hits,
    most = kind == 'g' and MOST or MOST_HITS_OF_WINDOW,
    isCount = kind == 'f' or kind == 'p'
  }
end
local orders = {}
for i = 1, tonumber(ARGV[at - 1]) do
  orders[i] = readOrder(at)
  if not noClock then prepareOneAsk(orders[i]) end
  at = at + 8
end
local orderOf, ttlOf = {}, {}
for i = 1, n do
  local order = orders[tonumber(ARGV[at])]
  orderOf[i] = order
  at = at + 1
  if order.isCount then
    ttlOf[i] = ARGV[at]
    at = at + 1
  end
end
local after, held, size = {}, {}, 0
local function put(order, used, previous, elapsed)
  size = size + 1
  after[size] = used
  if order.isCount then return end
  if order.kind == 's' then
    size = size + 1
    after[size] = previous
  end
  size = size + 1
  after[size] = elapsed
end
local function fail(text)
  size = size + 1
  after[size] = text
end
local function apply(key, order, ttl)
  if order.kind == 'p' then return fail(add(key, order.text, ttl)) end
  local used, previous, elapsed = stand(key, order)
  if not used then return fail(previous) end
  local wrong = charge(key, order, ttl, used, previous, elapsed)
  if wrong then return fail(wrong) end
  put(order, used, previous, elapsed)
end
local function isOver(order, used, previous, elapsed)
  if order.hits > 0 then
    return order.hits > order.size or order.cost > freeUnits(order, used, previous, elapsed)
  end
  return freeUnits(order, math.max(0, used + order.step), previous, elapsed) < 0
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
return answer({after, held})
`);
}

/** One script for all algorithms, also for requests that are decided together; the second declares no keys (a cluster). */
export const ALGORITHM_SCRIPTS = {
  declaring: algorithmScript(DECLARED),
  cluster: algorithmScript(IN_ARGUMENTS),
} as const;
