import { MAX_LAPSES } from '../../../core/budgets/budget';
import { NO_INTEGER } from '../store-errors';

/** Reads the field `s` of a counter with reservations, and its length without the record (see `OPEN_LUA`). */
const READ = `local stored = redis.call('HMGET', KEYS[1], 's')[1]
local size = stored and 25 + 32 * string.byte(stored)
if stored and #stored < size then return redis.error_reply('${NO_INTEGER}') end
`;

/** Numbers that a list of open reservations passes at most, open or settled. */
const MAX_PASSED = 100_000;

/**
 * Where a counter with reservations stands, for operators: how many to list. Answers the record (nil: there is none), milliseconds
 * to live, seconds and microseconds of the clock, hits that are held and how many are open, as the last call left them; then of each
 * open one its id, hits and milliseconds until its lease is over, each run by itself. Those whose leases are over have no id, and
 * are those that the next call would end (see `OPEN_LUA`).
 */
export const READ_OPEN = `${READ}
local time = redis.call('TIME')
local answer = { stored and string.sub(stored, size + 1), redis.call('PTTL', KEYS[1]), time[1], time[2], 0, 0 }
if not stored then return answer end
local nowMs, left, lapsing = time[1] * 1000 + math.floor(time[2] / 1000), ${String(MAX_PASSED)}, ${String(MAX_LAPSES)}
answer[5], answer[6] = struct.unpack('>dd', stored, 10)
for r = 1, string.byte(stored) do
  local at, last, first = struct.unpack('>ddd', stored, 32 * r - 6)
  local most, lapses = tonumber(ARGV[1]), first <= nowMs and math.min(lapsing, last - at) or 0
  lapsing = lapsing - lapses
  while at < last and most > 0 and left > 0 do
    local numbers = {}
    for i = 1, math.min(250, last - at) do numbers[i] = struct.pack('>d', at + i - 1) end
    at, left = at + #numbers, left - #numbers
    for i, value in ipairs(redis.call('HMGET', KEYS[1], unpack(numbers))) do
      local due, hits, id = 0, 0
      if value then
        due, hits = struct.unpack('>dd', value)
        if due > nowMs then id = most > 0 and string.sub(value, 18) elseif i <= lapses then id = '' end
      end
      if id then
        most = due > nowMs and most - 1 or most
        for _, item in ipairs({ id, hits, due - nowMs }) do answer[#answer + 1] = item end
      end
    end
    lapses = lapses - #numbers
  end
end
return answer`;

/** Ends what is counted and blocked; what is open stays. */
export const RESET_RECORD = `${READ}
if not stored then return 0 end
if size == 25 then return redis.call('DEL', KEYS[1]) end
return redis.call('HSET', KEYS[1], 's', string.sub(stored, 1, size))`;

/**
 * Puts one part into the record, in place of that with its name (see \`recordOf\`), or all of it: the name with a space, or
 * nothing; the part; the end of the key, milliseconds since 1970, and how long that is from now. One that lives longer keeps its
 * time.
 */
export const PUT_PART = `${READ}
local others, isNew = '', not stored
if isNew then stored, size = struct.pack('>Bddd', 0, 0, 0, 0), 25 end
for part in string.gmatch(ARGV[1] == '' and '' or string.sub(stored, size + 1), '[^;]+;') do
  if string.sub(part, 1, #ARGV[1]) ~= ARGV[1] then others = others .. part end
end
local ends = math.max(struct.unpack('>d', stored, 2), tonumber(ARGV[3]))
local isLater = ends == tonumber(ARGV[3])
local head = string.sub(stored, 1, 1) .. struct.pack('>d', ends) .. string.sub(stored, 10, size)
redis.call('HSET', KEYS[1], 's', head .. others .. ARGV[2])
local done = isLater and redis.pcall('PEXPIRE', KEYS[1], ARGV[4])
if type(done) ~= 'table' then return 1 end
if isNew then redis.pcall('DEL', KEYS[1]) end
return done`;
