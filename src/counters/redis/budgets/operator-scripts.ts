import { SPARE_SECONDS } from '../../../core/kinds/ticks';
import { NO_INTEGER } from '../store-errors';

/** The record of a counter is packed (see `recordOf` of `SAVE_LUA`); operators see it as text, as in core/budgets/record.ts. */
const RECORD = `local NOT_OURS = redis.error_reply('${NO_INTEGER}')
local function textOf(value, from)
  if from > #value then return '' end
  local _, last, layout = string.find(value, '^([^\\n]*)\\n', from)
  if not last then return nil end
  local text, at = '', last + 1
  for id, count in string.gmatch(layout, '([^ ;]+) (%d);') do
    if at + 8 * count > #value + 1 then return nil end
    text = text .. id
    for _ = 1, count do
      text = text .. ' ' .. string.format('%.0f', (struct.unpack('<d', value, at)))
      at = at + 8
    end
    text = text .. ';'
  end
  return at == #value + 1 and text
end
local function isLog(id)
  return string.find(id, '^l%d+$') ~= nil
end
-- The hits of a log in parts of eight, the last of which is filled with zeros.
local function partsOfLog(id, times)
  local layout, at = '', 0
  while at == 0 or at < #times do
    layout = layout .. id .. (at > 0 and '+' .. at / 8 or '') .. ' 8;'
    at = at + 8
  end
  for i = #times + 1, at do times[i] = 0 end
  return layout
end
local function packedOf(text)
  if text == '' then return '' end
  local layout, figures = '', ''
  for id, all in string.gmatch(text, '([^ ;]+)([ %d]+);') do
    local list = {}
    for figure in string.gmatch(all, '%d+') do list[#list + 1] = tonumber(figure) end
    layout = layout .. (isLog(id) and partsOfLog(id, list) or id .. ' ' .. #list .. ';')
    for i, figure in ipairs(list) do list[i] = struct.pack('<d', figure) end
    figures = figures .. table.concat(list)
  end
  return layout .. '\\n' .. figures
end
-- A record with a part in place of that with its name, or of all where there is no name; nothing where it is not ours.
local function putPart(value, from, head, part)
  local text, others = head == '' and '' or textOf(value, from), ''
  if not text then return nil end
  local id = string.sub(head, 1, -2)
  for one in string.gmatch(text, '[^;]+;') do
    local isOld = string.sub(one, 1, #head) == head or isLog(id) and string.sub(one, 1, #id + 1) == id .. '+'
    if not isOld then others = others .. one end
  end
  return packedOf(others .. part)
end
`;

/** Reads a log for operators: its ticks separated by spaces (nil: there is none), milliseconds to live, and the clock. */
export const READ_LOG = `local value, times = redis.call('GET', KEYS[1]), {}
if value and #value % 8 ~= 0 then return redis.error_reply('${NO_INTEGER}') end
for at = 1, value and #value or 0, 8 do
  times[#times + 1] = string.format('%.0f', (struct.unpack('<d', value, at)))
end
return { value and table.concat(times, ' '), redis.call('PTTL', KEYS[1]), redis.call('TIME') }`;

/** Sets a log to these ticks, with this time to live in milliseconds. */
export const SET_LOG = `local times = {}
for time in string.gmatch(ARGV[1], '%d+') do times[#times + 1] = struct.pack('<d', tonumber(time)) end
if #times == 0 then return redis.call('DEL', KEYS[1]) end
return redis.call('PSETEX', KEYS[1], ARGV[2], table.concat(times))`;

/** Reads a counter without reservations for operators: the record (nil: there is none), milliseconds to live, and the clock. */
export const READ_RECORD = `${RECORD}
local value = redis.call('GET', KEYS[1])
local text = value and textOf(value, 1)
if value and not text then return NOT_OURS end
return { text, redis.call('PTTL', KEYS[1]), redis.call('TIME') }`;

/**
 * Replaces one part of the record of a counter without reservations: the name with a space, the part, milliseconds to live. A
 * longer time to live stays.
 */
export const PUT_RECORD_PART = `${RECORD}
local record = putPart(redis.call('GET', KEYS[1]) or '', 1, ARGV[1], ARGV[2])
if not record then return NOT_OURS end
local life = math.max(redis.call('PTTL', KEYS[1]), tonumber(ARGV[3]))
return redis.call('PSETEX', KEYS[1], string.format('%.0f', life), record)`;

/** Reads the field `s` of a counter with reservations, and its length without the record (see `OPEN_LUA`). */
const READ = `local stored = redis.call('HMGET', KEYS[1], 's')[1]
local size = stored and 25 + 32 * string.byte(stored)
if stored and #stored < size then return redis.error_reply('${NO_INTEGER}') end
`;

/** Numbers visited per call, open or settled: less than a millisecond's work, so that decisions do not wait for operators. */
const MAX_PASSED = 2_000;

/**
 * Reads a counter with reservations for operators: how many to list per run, the rule's lease in milliseconds, and where to
 * continue: a run (0: at the beginning), a number in it, and how many leases may still be shown as expired. Answers the record
 * (nil: there is none), milliseconds to live, seconds and microseconds of the clock, reserved hits and open reservations as the
 * last call left them, and where to continue (0: the end); then for each open one its id, hits and milliseconds until its lease
 * expires, run by run. Those with expired leases have no id; the next call would expire the same ones (see `OPEN_LUA`).
 */
export const READ_OPEN = `${RECORD}${READ}
local text = stored and textOf(stored, size + 1)
if stored and not text then return NOT_OURS end
local time = redis.call('TIME')
local answer = { text, redis.call('PTTL', KEYS[1]), time[1], time[2], 0, 0, 0, 0, 0 }
if not stored then return answer end
local nowMs, passed = time[1] * 1000 + math.floor(time[2] / 1000), 0
local most, lapses = tonumber(ARGV[1]), tonumber(ARGV[5])
local latest = nowMs + tonumber(ARGV[2]) + ${String(SPARE_SECONDS * 1_000)}
answer[5], answer[6] = struct.unpack('<dd', stored, 10)
for r = math.max(1, tonumber(ARGV[3])), string.byte(stored) do
  local at, last, _, ends = struct.unpack('<dddd', stored, 32 * r - 6)
  local left, fields = most, nil
  if r == tonumber(ARGV[3]) then at = tonumber(ARGV[4]) end
  ends = math.min(math.abs(ends), latest)
  while at < last and left > 0 do
    if passed >= ${String(MAX_PASSED)} then
      answer[7], answer[8], answer[9] = r, string.format('%.0f', at), lapses
      return answer
    end
    fields = {}
    for i = 1, math.min(250, last - at) do fields[i] = struct.pack('>d', at + i - 1) end
    at, passed = at + #fields, passed + #fields
    for _, value in ipairs(redis.call('HMGET', KEYS[1], unpack(fields))) do
      local due, hits, id = 0, 0
      if value then
        due, hits = struct.unpack('<dd', value)
        due = math.min(due, ends)
        if due > nowMs then id, left = left > 0 and string.sub(value, 18), left - 1
        elseif lapses > 0 then id, lapses = '', lapses - 1 end
      end
      if id then
        for _, item in ipairs({ id, hits, due - nowMs }) do answer[#answer + 1] = item end
      end
    end
  end
end
return answer`;

/** Removes usage and blocks; open reservations stay. */
export const RESET_RECORD = `${READ}
if not stored then return 0 end
if size == 25 then return redis.call('DEL', KEYS[1]) end
return redis.call('HSET', KEYS[1], 's', string.sub(stored, 1, size))`;

/**
 * Replaces one part of the record (see \`recordOf\`), or all of it: the name with a space, or nothing; the part; the expiry of the
 * key, milliseconds since 1970, and the time until then. A longer time to live stays.
 */
export const PUT_PART = `${RECORD}${READ}
local isNew = not stored
if isNew then stored, size = struct.pack('<Bddd', 0, 0, 0, 0), 25 end
local record = putPart(stored, size + 1, ARGV[1], ARGV[2])
if not record then return NOT_OURS end
local ends = math.max(struct.unpack('<d', stored, 2), tonumber(ARGV[3]))
local isLater = ends == tonumber(ARGV[3])
local head = string.sub(stored, 1, 1) .. struct.pack('<d', ends) .. string.sub(stored, 10, size)
redis.call('HSET', KEYS[1], 's', head .. record)
local done = isLater and redis.pcall('PEXPIRE', KEYS[1], ARGV[4])
if type(done) ~= 'table' then return 1 end
if isNew then redis.pcall('DEL', KEYS[1]) end
return done`;
