-- The keys of a call: `keys[before + i]` is the one at i, and other arguments follow the first `skip`. A cluster refuses a script
-- whose declared keys are in several slots (CROSSSLOT), but runs one that declares none and uses keys of slots which the node owns:
-- for it the arguments begin with their number and the keys. Without any, as when it is loaded, a script does nothing.
--
-- ARGV is read for each key: a local takes a third of the time of a global.
local ARGV = ARGV
local keys, before, n, skip = KEYS, 0, #KEYS, 0
if n == 0 and ARGV[1] then
  keys, before, n = ARGV, 1, tonumber(ARGV[1])
  skip = n + 1
end
