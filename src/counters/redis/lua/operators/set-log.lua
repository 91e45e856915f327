-- Sets a log to these ticks, with this time to live in milliseconds.
local times = {}
for time in string.gmatch(ARGV[1], '%d+') do times[#times + 1] = struct.pack('<d', tonumber(time)) end
if #times == 0 then return redis.call('DEL', KEYS[1]) end
return redis.call('PSETEX', KEYS[1], ARGV[2], table.concat(times))
