-- Where the arguments begin at `at`, three places before them is the time of the call in microseconds (empty: the server's clock).
local at = skip + 3
local micros = tonumber(ARGV[at - 2])
local noClock
if not micros then
  if redis.replicate_commands then redis.replicate_commands() end
  local time = pcall('TIME')
  if time.err then
    noClock, micros = 'ERR the clock of the server: ' .. time.err, 0
  else
    micros = time[1] * 1000000 + time[2]
  end
end
