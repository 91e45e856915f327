import { createHash } from 'node:crypto';
import { COUNTED, NO_INTEGER } from './store-errors';

/** A script as Redis knows it. */
export interface Script {
  readonly source: string;
  readonly sha: string;
}

/** The two scripts, and how they get their keys. */
export interface Scripts {
  readonly add: Script;
  readonly holdBack: Script;
  readonly isDeclaringKeys: boolean;
}

/**
 * Adds one increment. The time to live is set when the counter is new: its value then equals the hits. So it does for a counter at
 * 0, therefore EXPIRE uses NX (from Redis 7 on, where the version number exists) or PTTL is called first. A result below 0 is
 * raised to 0, which keeps the time to live: by INCRBY again, until its answer is 0, because a number of Lua holds 53 bits of one
 * far below 0. An error is returned as its text, and fails only this increment; `COUNTED` precedes one that came after INCRBY.
 *
 * Counts are answered in MessagePack, which the client reads ten times faster than a list of integers, where the server supports
 * it; else as a list.
 */
export const ADD = `
local isPacking, pack = pcall(function() return cmsgpack.pack end)
local pcall, hasNx = redis.pcall, redis.REDIS_VERSION_NUM
local text, number
local function expire(key, ttl)
  if hasNx then return pcall('EXPIRE', key, ttl, 'NX') end
  local left = pcall('PTTL', key)
  if type(left) == 'number' and left >= 0 then return 0 end
  return pcall('EXPIRE', key, ttl)
end
local function lift(key, count)
  for _ = 1, 4 do
    count = pcall('INCRBY', key, string.format('%.0f', math.min(-count, 2 ^ 62)))
    if type(count) == 'table' then return count.err end
    if count == 0 then return end
  end
end
local function add(key, hits, ttl)
  if hits ~= text then text, number = hits, tonumber(hits) end
  local count = pcall('INCRBY', key, hits)
  if type(count) == 'table' then return count.err end
  if count < 0 then
    local wrong = lift(key, count)
    if wrong then return '${COUNTED}' .. wrong end
  end
  if count == number then
    local done = expire(key, ttl)
    if type(done) == 'table' then return '${COUNTED}' .. done.err end
  end
  if count < 0 then return 0 end
  return count
end
local function answer(value)
  if isPacking then return pack(value) end
  return value
end
`;

/** Where a script finds its keys: their number, the key at `i`, and the offset of the other arguments. */
export interface KeyPlaces {
  readonly count: string;
  readonly key: string;
  readonly skip: string;
}

export const DECLARED: KeyPlaces = { count: '#KEYS', key: 'KEYS[i]', skip: '0' };

/** ARGV: the number of keys, the keys, then the rest. */
export const IN_ARGUMENTS: KeyPlaces = {
  count: `tonumber(ARGV[1] or '0')`,
  key: 'ARGV[i + 1]',
  skip: 'n + 1',
};

/** Arguments: hits and time to live of every key. Answers the counts. Without keys it does nothing. */
function addScript({ count, key, skip }: KeyPlaces): Script {
  return script(`${ADD}
local n = ${count}
local o = ${skip}
local after = {}
for i = 1, n do after[i] = add(${key}, ARGV[o + i * 2 - 1], ARGV[o + i * 2]) end
return answer(after)
`);
}

/**
 * Arguments: hits, time to live and limit of every key, then the end (inclusive) of every run. Answers the counts and the indices
 * (from 1) of increments held back. Values that others wrote under a key are read as INCRBY reads them: a negative integer as 0, to
 * which it is raised; anything else is an error.
 */
function holdBackScript({ count, key, skip }: KeyPlaces): Script {
  return script(`${ADD}
local NO_INTEGER = '${NO_INTEGER}'
local n = ${count}
local o = ${skip}
local after, held = {}, {}
local first = 1
for r = o + n * 3 + 1, #ARGV do
  local last = tonumber(ARGV[r])
  local over, before, any = {}, {}, false
  for i = first, last do
    local count = pcall('GET', ${key})
    if type(count) == 'table' then before[i] = count.err
    elseif count and not string.find(count, '^%-?%d+$') then before[i] = NO_INTEGER
    else
      before[i] = math.max(0, tonumber(count or '0'))
      if before[i] + tonumber(ARGV[o + i * 3 - 2]) > tonumber(ARGV[o + i * 3]) then over[i], any = true, true end
    end
  end
  for i = first, last do
    if any and not over[i] then
      after[i] = before[i]
      held[#held + 1] = i
    else
      after[i] = add(${key}, ARGV[o + i * 3 - 2], ARGV[o + i * 3 - 1])
    end
  end
  first = last + 1
end
return answer({after, held})
`);
}

export const SCRIPTS: Scripts = {
  add: addScript(DECLARED),
  holdBack: holdBackScript(DECLARED),
  isDeclaringKeys: true,
};

/**
 * A cluster refuses a script whose declared keys are in several slots (CROSSSLOT), but runs one that declares none and uses keys of
 * slots which the node owns; a key that the node does not own fails alone.
 */
export const CLUSTER_SCRIPTS: Scripts = {
  add: addScript(IN_ARGUMENTS),
  holdBack: holdBackScript(IN_ARGUMENTS),
  isDeclaringKeys: false,
};

export function script(source: string): Script {
  return { source, sha: createHash('sha1').update(source).digest('hex') };
}
