-- Reads a log for operators: its ticks separated by spaces (nil: there is none), milliseconds to live, and the clock.
local value, times = redis.call('GET', KEYS[1]), {}
if value and #value % 8 ~= 0 then return redis.error_reply(NO_INTEGER) end
for at = 1, value and #value or 0, 8 do
  times[#times + 1] = string.format('%.0f', (struct.unpack('<d', value, at)))
end
return { value and table.concat(times, ' '), redis.call('PTTL', KEYS[1]), redis.call('TIME') }
