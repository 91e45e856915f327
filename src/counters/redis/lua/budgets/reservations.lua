-- What reservations do to a counter, on the short way and on the general one: the same as judge.ts and commit.ts of core/budgets.
-- `held` are the reserved hits of the counter, `open` is the number of its open reservations.
--
-- Units of a limit that are neither used nor reserved; below 0: a debt.
local function freeUnits(limit, used, previous, elapsed, held)
  return limit.free(limit, used, previous, elapsed) - held * limit.period
end
local function hold(held, open, hits)
  held = held + hits
  return held > MAX_EXACT and MAX_EXACT or held, open + 1
end
-- Ends a reservation of `was` hits: nothing is held any more once none is open. The third result: the hits to charge.
local function settle(held, open, was, mode, hits)
  if mode == 'h' then hits = was elseif mode == 'c' then hits = 0 end
  if open <= 1 then return 0, 0, hits end
  return held > was and held - was or 0, open - 1, hits
end
-- Until when a limit is needed. Reserved hits are charged at the latest when the last lease ends.
local function endOfLimit(limit, used, previous, elapsed, held, last)
  if limit.isWindow then
    local ends = nowMs + elapsed * 1000 - processMs + SPARE_MS
    if held == 0 then return ends end
    last = last + limit.longest * 1000 + SPARE_MS
    return last > ends and last or ends
  end
  if held == 0 then last = nowMs
  else
    used = added(limit, used, held)
    if elapsed > 0 then elapsed = 0 end
  end
  local ticks = limit.life(limit, used, previous, elapsed)
  if limit.isLog and held > 0 then ticks = max(ticks, limit.period) end
  local ms = ticks * limit.micros / 1000
  -- As `ceil`, which takes five times as long.
  return last + ms + -ms % 1
end
