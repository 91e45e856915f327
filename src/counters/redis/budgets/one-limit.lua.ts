import { MAX_OPEN } from '../../../core/budgets/budget';
import type { ScriptedKind } from '../../../core/kinds/kind';
import { KINDS } from '../../../core/kinds/kinds';

/** What differs between kinds: Lua on `order` (the limit), the stored figures, and `used`, `previous`, `elapsed`. */
interface Pieces {
  readonly kept: readonly string[];
  readonly advance: string;
  readonly absent: string;
  readonly answered: readonly string[];
  readonly figures: readonly string[];
  readonly most: string;
  /** Sets `needed`, where `more` hits are reserved until `since`, which is now where none are. */
  readonly needed: string;
}

/** A window by the clock of this process: `elapsed` is its end. */
const WINDOW: Pieces = {
  kept: ['count', 'until_'],
  advance: `if until_ > order.latestEnd then return false end
    if count == 0 or until_ < order.ends then used, elapsed = 0, order.ends else used, elapsed = count, until_ end`,
  absent: 'elapsed = order.ends',
  answered: ['used', 'elapsed'],
  figures: ['used', 'elapsed'],
  most: 'MAX_EXACT',
  needed: `needed = max(needed, nowMs + elapsed * 1000 - processMs + SPARE_MS)
  if more > 0 then needed = max(needed, since + order.longest * 1000 + SPARE_MS) end`,
};

function piecesOf({ lua: { record, absent, has, unit } }: ScriptedKind): Pieces {
  if (record === undefined) return WINDOW;
  return {
    kept: record.kept,
    advance: record.advance.replaceAll('NOT_OURS()', 'return false'),
    absent,
    answered: ['used', ...(has.previous ? ['previous'] : []), ...(has.elapsed ? ['elapsed'] : [])],
    figures: record.figures,
    most: record.most,
    needed: `if more > 0 then
    used, elapsed = used + more * (${unit}), 0
    if used > ${record.most} then used = ${record.most} end
  end
  needed = since + ceil((${record.life}) * order.micros / 1000)`,
  };
}

/**
 * Reservations of a rule with one limit and no block, the common case, without the loops and tables of the general way. Returns
 * whether all is done, and the text of an error; where it is not done, nothing has been changed, and the general way handles it:
 * expired leases, a second run of numbers, a repeated id, another layout, a counter that expires.
 */
function oneLimit(kind: ScriptedKind): string {
  // Lua reads a local in a third of the time of a field.
  const fields = new Set<string>();
  const body = bodyOf(kind).replace(/order\.(\w+)/g, (_, field: string) => {
    fields.add(field);
    return `order_${field}`;
  });
  const all = [...fields];
  return `function(limiter)
  local order, text = limiter.limits[1], limiter.layouts[1].text
  local ${all.map((field) => `order_${field}`).join(', ')} = ${all.map((field) => `order.${field}`).join(', ')}
  local lease, isForced, record = limiter.lease, limiter.isForced, 'c' .. #text .. ('d'):rep(order.bytes / 8)
  local long, longBytes = '<Bddddddd' .. record, 57 + limiter.layouts[1].bytes
  local short, shortBytes = '<Bddd' .. record, 25 + limiter.layouts[1].bytes
  return ${body}
end`;
}

function bodyOf(kind: ScriptedKind): string {
  const { kept, advance, absent, answered, figures, most, needed } = piecesOf(kind);
  const { record } = kind.lua;
  const names = kept.join(', ');
  const isOurs = kept.map((name) => `${name} >= 0 and ${name} <= MAX_EXACT and ${name} % 1 == 0`);
  return `function(mode, name, id, hits)
  local found = pcall('HMGET', name, 's', id)
  if found.err then return true, found.err end
  local stored, own = found[1], found[2]
  local runs, ends, held, open = 0, 0, 0, 0
  local head, nextOne, first, last, layout, ${names}
  local bytes = stored and #stored or 0
  if bytes == longBytes then
    runs, ends, held, open, head, nextOne, first, last, layout, ${names} = read(long, stored)
    if runs ~= 1 or layout ~= text then return false end
  elseif bytes == shortBytes then
    runs, ends, held, open, layout, ${names} = read(short, stored)
    if runs ~= 0 or layout ~= text then return false end
  elseif bytes == 57 then
    runs, ends, held, open, head, nextOne, first, last = read('<Bddddddd', stored)
    if runs ~= 1 then return false end
  elseif stored then return false end
  if first and (first <= nowMs or last < 0 or last > nowMs + lease + SPARE_MS) then return false end
  if not (held >= 0 and open >= 0) then return false end
  local used, previous, elapsed, isSame, isAstray = 0, 0, 0, false, false
  if layout then
    if not (${isOurs.join(' and ')}) then return false end
    ${advance}
    if isAstray then return false end
    ${record === undefined ? '' : `if used == 0 and previous == 0 then elapsed = 0 ${absent} end`}
  else ${absent} end
  local was, number, met = -1
  if own and open > 0 then
    if mode == 'r' or #own ~= 17 then return false end
    was, number, met = read('<dc8B', own)
    if met ~= 0 or was < 0 then return false end
  end
  local more, left, charged, opens = held, open, 0, false
  if mode == 'r' then
    if open >= ${String(MAX_OPEN)} then return false end
    opens = isForced or
      not (${kind.lua.free} - held * order.period < (hits > 0 and hits or 1) * order.period)
    if opens then
      local due = nowMs + lease
      if runs == 0 then head, nextOne, first, last = 1, 1, due, due
      elseif last > due then return false end
      nextOne, last, more, left = nextOne + 1, due, held + hits, open + 1
      if more > MAX_EXACT then more = MAX_EXACT end
    end
  elseif was >= 0 then
    left = open - 1
    more = left > 0 and held > was and held - was or 0
    charged = mode == 'h' and was or mode == 'c' and 0 or hits
    if left == 0 and charged <= 0 and not layout then return false end
  end
  ${answered.map((name, at) => `after[size + ${String(at + 1)}] = ${name}`).join('\n  ')}
  size = size + ${String(answered.length)}
  if open > 0 then
    after[size + 1], after[size + 2], after[size + 3], after[size + 4], after[size + 5] = 1, held, open, was, 0
    size = size + 5
  else
    size = size + 1
    after[size] = 0
  end
  if not opens and was < 0 then return true end
  if charged > 0 then
    used = used + charged * (${kind.lua.unit})
    if used > ${most} then used = ${most} end
    layout, ${names} = text, ${figures.join(', ')}
  end
  local since = left > 0 and last or nowMs
  local needed = since
  ${needed}
  needed = needed + 1000
  local isLater = needed > ends
  if isLater then
    ends = floor(min(needed + min((needed - nowMs) / 4, 600000) + 5000, nowMs + LONGEST))
    local wrong = stored and expireAt(name, ends)
    if wrong then return true, wrong end
  end
  if was >= 0 then
    local done = pcall('HDEL', name, id, number)
    if type(done) == 'table' then return true, done.err end
  end
  local value, done
  if left == 0 then value = packed(short, 0, ends, 0, 0, layout, ${names})
  elseif layout then value = packed(long, 1, ends, more, left, head, nextOne, first, last, layout, ${names})
  else value = packed('<Bddddddd', 1, ends, more, left, head, nextOne, first, last) end
  if opens then
    number = packed('>d', nextOne - 1)
    done = pcall('HSET', name, 's', value, id, packed('<dc8B', hits, number, 0), number, packed('<ddc0', last, hits, id))
  else done = pcall('HSET', name, 's', value) end
  if type(done) == 'table' then return true, done.err end
  local wrong = isLater and not stored and expireAt(name, ends)
  -- It would never expire.
  if wrong then pcall('DEL', name) end
  return true, wrong
end`;
}

/** Limiters whose reservations may take that way get their function, by the letter of the kind, and the forms of stored figures. */
export const ONE_LIMIT_LUA = `
local ONE_LIMIT = {${KINDS.filter(({ lua }: ScriptedKind) => lua.isLog !== true)
  .map(
    (kind) => `
${kind.letter} = ${oneLimit(kind)}`,
  )
  .join(',')}
}
local function addOneLimit(limiter)
  local limit = limiter.limits[1]
  if not limiter.isReserving or #limiter.limits > 1 or #limiter.blocks > 0 or limit.isSlots or noClock then return end
  local make = ONE_LIMIT[limit.letter]
  if make then limiter.one = make(limiter) end
end
`;
