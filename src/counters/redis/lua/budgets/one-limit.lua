-- Reservations of a rule with one limit and no block, the common case, without the loops and tables of the general way. The function
-- returns whether all is done, and the text of an error; where it is not done, nothing has been changed, and the general way handles
-- it: expired leases, a second run of numbers, a repeated id, another layout, a counter that expires.
local function oneLimit(limiter)
  local limit, layout = limiter.limits[1], limiter.layouts[1].text
  local kind, lease, isForced = limit.kind, limiter.lease, limiter.isForced
  local standBy, figures = kind.standBy, kind.figures
  local isThree, hasPrevious = kind.kept == 3, kind.hasPrevious
  local due, latest, period = nowMs + lease, nowMs + lease + SPARE_MS, limit.period
  local _, _, unused = standBy(limit, 0, 0, 0)
  local record, bytes = 'c' .. #layout .. ('d'):rep(kind.kept), limiter.layouts[1].bytes
  local long, longBytes, short, shortBytes = '<Bddddddd' .. record, 57 + bytes, '<Bddd' .. record, 25 + bytes
  return function(mode, name, id, hits)
    local found = pcall('HMGET', name, 's', id)
    local stored, own = found[1], found[2]
    if stored == nil then return true, found.err end
    local runs, ends, held, open, was = 0, 0, 0, 0, -1
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
    if first and (first <= nowMs or last < 0 or last > latest) then return false end
    if not (held >= 0 and open >= 0) then return false end
    local used, previous, elapsed, isAstray = 0, 0, unused, false
    if line then
      if not (a >= 0 and a % 1 == 0 and b >= 0 and b % 1 == 0) or isThree and not (c >= 0 and c % 1 == 0) then return false end
      used, previous, elapsed, isAstray = standBy(limit, a, b, c)
      if not used or isAstray then return false end
      if used == 0 and previous == 0 then elapsed = unused end
    end
    local number, met
    if own and open > 0 then
      if mode == 'r' or #own ~= 17 then return false end
      was, number, met = read('<dc8B', own)
      if met ~= 0 or was < 0 then return false end
    end
    local stoodHeld, stoodOpen, charged, opens = held, open, 0, false
    if mode == 'r' then
      if open >= MAX_OPEN then return false end
      opens = isForced or freeUnits(limit, used, previous, elapsed, held) >= (hits > 0 and hits or 1) * period
      if opens then
        if runs == 0 then head, nextOne, first, last = 1, 1, due, due
        elseif last > due then return false end
        nextOne, last = nextOne + 1, due
        held, open = hold(held, open, hits)
      end
    elseif was >= 0 then
      held, open, charged = settle(held, open, was, mode, hits)
      if open == 0 and charged <= 0 and not line then return false end
    end
    local answer, at = after, size + 2
    answer[at - 1] = used
    if hasPrevious then
      answer[at] = previous
      at = at + 1
    end
    answer[at] = elapsed
    if stoodOpen == 0 then answer[at + 1], size = 0, at + 1
    else
      answer[at + 1], answer[at + 2], answer[at + 3], answer[at + 4], answer[at + 5] = 1, stoodHeld, stoodOpen, was, 0
      size = at + 5
    end
    if not opens and was < 0 then return true end
    if charged > 0 then
      used = added(limit, used, charged)
      line, a, b, c = layout, figures(limit, used, previous, elapsed)
    end
    last = open > 0 and last or nowMs
    local needed = endOfLimit(limit, used, previous, elapsed, held, last)
    needed = (needed > last and needed or last) + 1000
    local isLater = needed > ends
    if isLater then
      ends = keptUntil(needed)
      local wrong = stored and expireAt(name, ends)
      if wrong then return true, wrong end
    end
    if was >= 0 then
      local done = pcall('HDEL', name, id, number)
      -- The usual answer is not asked for its type, which takes as long as all of `settle`.
      if done ~= 2 and type(done) == 'table' then return true, done.err end
    end
    local value, done
    if open == 0 then value = packed(short, 0, ends, 0, 0, line, a, b, c)
    elseif line then value = packed(long, 1, ends, held, open, head, nextOne, first, last, line, a, b, c)
    else value = packed('<Bddddddd', 1, ends, held, open, head, nextOne, first, last) end
    if opens then
      local mine = packed('<d>dB', hits, nextOne - 1, 0)
      done = pcall('HSET', name, 's', value, id, mine, sub(mine, 9, 16), packed('<ddc0', last, hits, id))
    else done = pcall('HSET', name, 's', value) end
    if done ~= 0 and done ~= 2 and type(done) == 'table' then return true, done.err end
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
