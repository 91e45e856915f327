-- Reservations of a rule with one limit and no block, the common case, without the loops and tables of the general way. The function
-- returns whether all is done, and the text of an error; where it is not done, nothing has been changed, and the general way handles
-- it: expired leases, a second run of numbers, a repeated id, another layout, a counter that expires.
local function oneLimit(limiter)
  local limit, layout = limiter.limits[1], limiter.layouts[1].text
  local kind, lease, isForced = limit.kind, limiter.lease, limiter.isForced
  local standBy, free, figures, life = kind.standBy, kind.free, kind.figures, kind.life
  local isThree, isWindow, hasPrevious = kind.kept == 3, limit.isWindow, kind.hasPrevious
  local period, unit, most, msOfTick = limit.period, limit.unit, limit.most, limit.micros / 1000
  local _, _, unused = standBy(limit, 0, 0, 0)
  local record, bytes = 'c' .. #layout .. ('d'):rep(kind.kept), limiter.layouts[1].bytes
  local long, longBytes, short, shortBytes = '<Bddddddd' .. record, 57 + bytes, '<Bddd' .. record, 25 + bytes
  return function(mode, name, id, hits)
    local found = pcall('HMGET', name, 's', id)
    if found.err then return true, found.err end
    local stored, own = found[1], found[2]
    local runs, ends, held, open = 0, 0, 0, 0
    local head, nextOne, first, last, line, a, b, c
    local length = stored and #stored or 0
    if length == longBytes then
      runs, ends, held, open, head, nextOne, first, last, line, a, b, c = read(long, stored)
      if runs ~= 1 or line ~= layout then return false end
    elseif length == shortBytes then
      runs, ends, held, open, line, a, b, c = read(short, stored)
      if runs ~= 0 or line ~= layout then return false end
    elseif length == 57 then
      runs, ends, held, open, head, nextOne, first, last = read('<Bddddddd', stored)
      if runs ~= 1 then return false end
    elseif stored then return false end
    if first and (first <= nowMs or last < 0 or last > nowMs + lease + SPARE_MS) then return false end
    if not (held >= 0 and open >= 0) then return false end
    local used, previous, elapsed, isAstray = 0, 0, unused, false
    if line then
      if not (a >= 0 and a <= MAX_EXACT and a % 1 == 0 and b >= 0 and b <= MAX_EXACT and b % 1 == 0) then return false end
      if isThree and not (c >= 0 and c <= MAX_EXACT and c % 1 == 0) then return false end
      used, previous, elapsed, isAstray = standBy(limit, a, b, c)
      if not used or isAstray then return false end
      if used == 0 and previous == 0 then elapsed = unused end
    end
    local was, number, met = -1
    if own and open > 0 then
      if mode == 'r' or #own ~= 17 then return false end
      was, number, met = read('<dc8B', own)
      if met ~= 0 or was < 0 then return false end
    end
    local more, left, charged, opens = held, open, 0, false
    if mode == 'r' then
      if open >= MAX_OPEN then return false end
      opens = isForced or
        not (free(limit, used, previous, elapsed) - held * period < (hits > 0 and hits or 1) * period)
      if opens then
        local due = nowMs + lease
        if runs == 0 then head, nextOne, first, last = 1, 1, due, due
        elseif last > due then return false end
        nextOne, last, more, left = nextOne + 1, due, held + hits, open + 1
        if more > MAX_EXACT then more = MAX_EXACT end
      end
    elseif was >= 0 then
      left = open - 1
      more = left > 0 and held > was and held - was or 0
      charged = mode == 'h' and was or mode == 'c' and 0 or hits
      if left == 0 and charged <= 0 and not line then return false end
    end
    after[size + 1] = used
    if hasPrevious then
      after[size + 2], after[size + 3] = previous, elapsed
      size = size + 3
    else
      after[size + 2] = elapsed
      size = size + 2
    end
    if open > 0 then
      after[size + 1], after[size + 2], after[size + 3], after[size + 4], after[size + 5] = 1, held, open, was, 0
      size = size + 5
    else
      size = size + 1
      after[size] = 0
    end
    if not opens and was < 0 then return true end
    if charged > 0 then
      used = used + charged * unit
      if used > most then used = most end
      line, a, b, c = layout, figures(limit, used, previous, elapsed)
    end
    local since = left > 0 and last or nowMs
    local needed
    if isWindow then
      needed = max(since, nowMs + elapsed * 1000 - processMs + SPARE_MS)
      if more > 0 then needed = max(needed, since + limit.longest * 1000 + SPARE_MS) end
    else
      if more > 0 then
        used, elapsed = used + more * unit, 0
        if used > most then used = most end
      end
      needed = since + ceil(life(limit, used, previous, elapsed) * msOfTick)
    end
    needed = needed + 1000
    local isLater = needed > ends
    if isLater then
      ends = keptUntil(needed)
      local wrong = stored and expireAt(name, ends)
      if wrong then return true, wrong end
    end
    if was >= 0 then
      local done = pcall('HDEL', name, id, number)
      if type(done) == 'table' then return true, done.err end
    end
    local value, done
    if left == 0 then value = packed(short, 0, ends, 0, 0, line, a, b, c)
    elseif line then value = packed(long, 1, ends, more, left, head, nextOne, first, last, line, a, b, c)
    else value = packed('<Bddddddd', 1, ends, more, left, head, nextOne, first, last) end
    if opens then
      number = packed('>d', nextOne - 1)
      done = pcall('HSET', name, 's', value, id, packed('<dc8B', hits, number, 0), number, packed('<ddc0', last, hits, id))
    else done = pcall('HSET', name, 's', value) end
    if type(done) == 'table' then return true, done.err end
    local wrong = isLater and not stored and expireAt(name, ends)
    -- It would never expire.
    if wrong then pcall('DEL', name) end
    return true, wrong
  end
end
-- Limiters whose reservations may take that way get their function.
local function addOneLimit(limiter)
  local limit = limiter.limits[1]
  if not limiter.isReserving or #limiter.limits > 1 or #limiter.blocks > 0 or limit.isSlots or limit.isLog then return end
  if not noClock then limiter.one = oneLimit(limiter) end
end
