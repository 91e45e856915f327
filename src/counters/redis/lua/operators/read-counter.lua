-- Reads a counter for operators: its kind (see counter.lua), how many open reservations to list per run, the rule's lease in
-- milliseconds, and where to continue: a run (0: at the beginning), a number in it, and how many leases may still be shown as expired.
-- Answers the record (nil: there is none), milliseconds to live, seconds and microseconds of the clock, reserved hits and open
-- reservations as the last call left them, and where to continue (0: the end); then for each open one its id, hits and milliseconds
-- until its lease expires, run by run. Those with expired leases have no id; the next call would expire the same ones (see `passSome`
-- of budgets/open.lua).
--
-- Numbers visited per call, open or settled: less than a millisecond's work, so that decisions do not wait for operators.
local MAX_PASSED = 2000
local text = stored and textOf(stored, size + 1)
if stored and not text then return NOT_OURS end
local time = redis.call('TIME')
local answer = { text, redis.call('PTTL', KEYS[1]), time[1], time[2], 0, 0, 0, 0, 0 }
if not (isHash and stored) then return answer end
local nowMs, passed = time[1] * 1000 + floor(time[2] / 1000), 0
local most, lapses = tonumber(ARGV[2]), tonumber(ARGV[6])
local latest = nowMs + tonumber(ARGV[3]) + SPARE_MS
answer[5], answer[6] = read('<dd', stored, 10)
for r = max(1, tonumber(ARGV[4])), byte(stored) do
  local at, before, _, last = runOf(stored, r, latest)
  local left = most
  if r == tonumber(ARGV[4]) then at = tonumber(ARGV[5]) end
  while at < before and left > 0 do
    if passed >= MAX_PASSED then
      answer[7], answer[8], answer[9] = r, format('%.0f', at), lapses
      return answer
    end
    local fields = numbersFrom(at, before, 250)
    at, passed = at + #fields, passed + #fields
    for _, value in ipairs(redis.call('HMGET', KEYS[1], unpack(fields))) do
      local due, hits, id = 0, 0
      if value then
        due, hits = leaseOf(value, last)
        if due > nowMs then id, left = left > 0 and sub(value, 18), left - 1
        elseif lapses > 0 then id, lapses = '', lapses - 1 end
      end
      if id then
        for _, item in ipairs({ id, hits, due - nowMs }) do answer[#answer + 1] = item end
      end
    end
  end
end
return answer
