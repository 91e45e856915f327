-- A count, which INCRBY changes. Values that others wrote under a key are read as INCRBY reads them: a negative integer as 0, to
-- which it is raised. In a record of several limits it has its end besides, by the clock of the calling process.
local function stand(value)
  if not value then return 0, 0, 0, false end
  local count = find(value, '^%-?%d+$') and tonumber(value)
  if not count or count > 2 ^ 63 then return nil, NO_INTEGER end
  return max(0, count), 0, 0, false
end
local function standBy(limit, count, ends)
  if count > MAX_EXACT then return nil, NO_INTEGER end
  if count == 0 or ends < limit.ends then return 0, 0, limit.ends, false end
  if ends > limit.latestEnd then return count, 0, limit.ends, true end
  return count, 0, ends, false
end
local function free(order, used)
  return order.capacity - used
end
local function figures(_, used, _, ends)
  return used, ends
end
local function put(after, size, used)
  after[size + 1] = used
  return size + 1
end
return {
  readsFirst = readsFirst, isCount = true, kept = 2, most = MAX_EXACT,
  stand = stand, standBy = standBy, free = free, figures = figures, put = put
}
