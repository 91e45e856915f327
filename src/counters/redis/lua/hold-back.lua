-- Arguments: hits, time to live and limit of every key, then the end (inclusive) of every run. Answers the counts and the indices
-- (from 1) of increments held back. Values that others wrote under a key are read as INCRBY reads them: a negative integer as 0, to
-- which it is raised; anything else is an error.
local after, held = {}, {}
local first = 1
for r = skip + n * 3 + 1, #ARGV do
  local last = tonumber(ARGV[r])
  local over, stood, any = {}, {}, false
  for i = first, last do
    local count = pcall('GET', keys[before + i])
    if type(count) == 'table' then stood[i] = count.err
    elseif count and not string.find(count, '^%-?%d+$') then stood[i] = NO_INTEGER
    else
      stood[i] = math.max(0, tonumber(count or '0'))
      if stood[i] + tonumber(ARGV[skip + i * 3 - 2]) > tonumber(ARGV[skip + i * 3]) then over[i], any = true, true end
    end
  end
  for i = first, last do
    if any and not over[i] then
      after[i] = stood[i]
      held[#held + 1] = i
    else
      after[i] = add(keys[before + i], ARGV[skip + i * 3 - 2], ARGV[skip + i * 3 - 1])
    end
  end
  first = last + 1
end
local answer = { after, held }
return isPacking and pack(answer) or answer
