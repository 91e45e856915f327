-- A counter with reservations (budgets.md section 8) is a hash. Its field `s` has the runs of numbers of open reservations, the expiry
-- of the key, the reserved hits, the number of open reservations, the figures of each run, and the record of limits and blocks. The
-- numbers of a run are given in the order in which its leases expire, and a field per number has the expiry, the hits and the field
-- of the id; so expired ones are found without an index. Figures are doubles, which Lua packs and reads ten times as fast as text, but
-- fields of numbers are big-endian: those from 1 on begin with no `=`, as fields of ids do.
--
-- The length of `s` before the record; nothing where the value is shorter.
local function headOf(value)
  local length = #value < 25 and 25 or 25 + 32 * byte(value)
  if #value >= length then return length end
end
-- A run: the first number that may be open, the next to be given, the expiry of the first (or earlier) and of the last lease; whether
-- its numbers may expire later than its last one, so that it takes no more, which a last expiry below 0 says; and whether a wrong
-- clock or a longer lease set the last: it expires later than a whole lease from now, and all of the run expire by then.
local function runOf(value, r, latest)
  local head, nextOne, first, last = read('<dddd', value, 32 * r - 6)
  local isClosed, isAstray = last < 0, false
  last = math.abs(last)
  if last > latest then last, isClosed, isAstray = latest, true, true end
  return head, nextOne, min(first, last), last, isClosed, isAstray
end
-- The next fields of numbers from one on, before another; at most so many.
local function numbersFrom(at, before, most)
  local fields = {}
  for i = 1, min(most, before - at) do fields[i] = packed('>d', at + i - 1) end
  return fields
end
-- The value of a number: when its lease expires, which is no later than the last one of its run, and its hits.
local function leaseOf(value, last)
  local due, hits = read('<dd', value)
  return min(due, last), hits
end
