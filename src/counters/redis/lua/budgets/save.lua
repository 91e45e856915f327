-- Writes a counter. A refused command leaves a counter that refuses too much, never one that admits too much: a key's time to live
-- is set before what needs it, and reservations are removed before the sum says so.
local function isBlockKept(limiter)
  for b = 1, #limiter.blocks do
    if KQ[b] > 0 then return true end
  end
  return false
end
local function isUsed(limiter)
  for j = 1, #limiter.limits do
    local limit = limiter.limits[j]
    if not limit.isSlots and (U[j] > 0 or not limit.isLog and P[j] > 0) then return true end
  end
  return strays ~= nil or isBlockKept(limiter)
end
local function endOfBlock(b)
  return KQ[b] > 0 and max(KE[b], KT[b] > 0 and KQ[b] + KT[b] or 0) or 0
end
-- The stored form of limits and blocks: the name of each part with the number of its figures, the end of the line, and the figures
-- as doubles, which are read and written three times as fast as text.
-- A record with the ends of parts that have none: without them each write would keep the key for longer.
local function withEnds(record)
  if not isEndless or not strays then return record end
  local line, names_, figures = find(record, '\n', 1, true), '', ''
  for _, stray in ipairs(strays) do
    if stray.isEndless then
      names_, figures = names_ .. '~' .. stray.id .. ' 1;', figures .. packed('<d', stray.untilMs)
    end
  end
  return sub(record, 1, line - 1) .. names_ .. sub(record, line) .. figures
end
local function filled(live, bytes)
  return live .. NO_HIT:rep((bytes - #live) / 8)
end
-- The parts of a log with more hits than its limit, which was lowered, and those that no rule of ours has, with their ends.
local function othersOf(limiter)
  local layout, figures = '', ''
  for j = 1, #limiter.limits do
    local limit = limiter.limits[j]
    if limit.isLog then
      for p = #limit.names + 1, ceil(#P[j] / 64) do
        layout = layout .. nameOfLog(limit.id, p) .. ';'
        figures = figures .. filled(sub(P[j], 64 * p - 63, 64 * p), 64)
      end
    end
  end
  if not strays then return layout, figures end
  for _, stray in ipairs(strays) do
    layout = layout .. stray.layout .. '~' .. stray.id .. ' 1;'
    figures = figures .. stray.bytes .. packed('<d', stray.untilMs)
  end
  -- Other builds count there: they learn how long our parts are needed.
  for j = 1, #limiter.limits do
    local limit = limiter.limits[j]
    if not limit.isSlots then
      layout = layout .. '~' .. limit.id .. ' 1;'
      figures = figures .. packed('<d', (U[j] > 0 or not limit.isLog and P[j] > 0) and endOfLimit(limit, U[j], P[j], E[j], 0) or 0)
    end
  end
  for b = 1, #limiter.blocks do
    layout = layout .. '~' .. sub(limiter.blocks[b].part, 1, -3) .. ' 1;'
    figures = figures .. packed('<d', endOfBlock(b))
  end
  return layout, figures
end
-- Adds what a log was charged to the window that 1.0.0-rc.1 counts in its place: each call of that build drops the log, and the next
-- one of ours begins it with that window.
local function addToHeir(limit, j, stray)
  local now = floor(limit.now / limit.period)
  local window, before, count = read('<ddd', stray.bytes)
  if window == now - 1 then before, count = count, 0
  elseif window < now then before, count = 0, 0 end
  stray.bytes = packed('<ddd', max(window, now), before, max(0, count + U[j] - logged[j]))
  stray.untilMs = max(stray.untilMs, nowMs + ceil(2 * limit.period * limit.micros / 1000))
end
local function addToHeirs(limiter)
  if not strays or not limiter.hasLog then return end
  for j = 1, #limiter.limits do
    local limit = limiter.limits[j]
    for _, stray in ipairs(strays) do
      if limit.isLog and U[j] ~= logged[j] and stray.layout == limit.heir .. ';' then addToHeir(limit, j, stray) end
    end
  end
end
local function recordOf(limiter)
  local layout, figures = limiter.layouts[1].head, ''
  for j = 1, #limiter.limits do
    local limit = limiter.limits[j]
    if limit.isWindow then figures = figures .. packed('<dd', U[j], E[j])
    elseif limit.isLog then figures = figures .. sub(filled(P[j], limit.bytes), 1, limit.bytes)
    elseif not limit.isSlots then
      figures = figures .. packed(limit.form, limit.kind.figures(limit, U[j], P[j], E[j]))
    end
  end
  if isBlockKept(limiter) then
    layout = limiter.layouts[2].head
    for b = 1, #limiter.blocks do figures = figures .. packed(BLOCK, KS[b], KE[b], KU[b], KT[b], KQ[b]) end
  end
  if not (strays or limiter.hasLog) then return layout .. '\n' .. figures end
  local moreLayout, more = othersOf(limiter)
  return layout .. moreLayout .. '\n' .. figures .. more
end
local function neededUntil(limiter)
  local last, needed, reserved = nowMs, nowMs, open > 0 and held or 0
  if open > 0 then
    for r = 1, runs do last = max(last, lasts[r]) end
  end
  for j = 1, #limiter.limits do
    local limit = limiter.limits[j]
    if not limit.isSlots then
      needed = max(needed, endOfLimit(limit, U[j], P[j], E[j], reserved, last))
    end
  end
  for b = 1, #limiter.blocks do needed = max(needed, endOfBlock(b)) end
  for _, stray in ipairs(strays or {}) do needed = max(needed, stray.untilMs + SPARE_MS) end
  return max(needed, last) + 1000
end
-- Whether the time to live must grow.
local function isKeptLonger(limiter)
  local needed = neededUntil(limiter)
  if needed <= ends then return false end
  ends = keptUntil(needed)
  return true
end
local function delete(name)
  local done = stored and pcall('DEL', name)
  return type(done) == 'table' and done.err
end
local function saveLimits(limiter, name)
  if not isUsed(limiter) then return delete(name) end
  local ms = min(neededUntil(limiter) - nowMs, LONGEST)
  return pcall('PSETEX', name, format(WHOLE, ms), recordOf(limiter)).err
end
local function endOpen(name, id, isEnded)
  local done
  if not gone then
    if not isEnded then return end
    done = pcall('HDEL', name, id, number)
  else
    local size = #gone
    if isEnded then gone[size + 1], gone[size + 2] = id, number end
    if #gone == 0 then return end
    done = pcall('HDEL', name, unpack(gone))
  end
  return type(done) == 'table' and done.err
end
local fields = { 'HSET', '', 's' }
local function saveOpen(limiter, i, isChanged, opens, isEnded)
  local name, id, size = nameOf[i], idOf[i], 4
  if opens then
    local hits = hitsOf[i]
    local at, due = enqueue(limiter)
    held, open = hold(held, open, hits)
    fields[7] = packed('>d', at)
    fields[5], fields[6] = id, packed('<dc8B', hits, fields[7], 0)
    fields[8] = packed('<ddc0', due, hits, id)
    size = 8
  elseif open == 0 and (isChanged or not stored or #stored < recordAt) and not isUsed(limiter) then
    return delete(name)
  elseif was >= 0 and not isEnded then
    fields[5], fields[6], size = id, packed('<dc8B', was, number, 1), 6
  end
  local isLater = isKeptLonger(limiter)
  local wrong = isLater and stored and expireAt(name, ends) or endOpen(name, id, isEnded)
  if wrong then return wrong end
  local record = ''
  if not isChanged then record = stored and withEnds(sub(stored, recordAt)) or ''
  elseif isUsed(limiter) then record = recordOf(limiter) end
  fields[2], fields[4] = name, openText() .. record
  local done = pcall(unpack(fields, 1, size))
  if type(done) == 'table' then return done.err end
  wrong = isLater and not stored and expireAt(name, ends)
  -- It would never expire.
  if wrong then pcall('DEL', name) end
  return wrong
end
-- Commits the charge at an index and writes the result; returns the text of an error, if any.
local function saveBudget(order, i)
  local limiter, mode = order.limiter, order.mode
  local isChanged, opens, isEnded = commitBudget(order, i)
  if mode == 'l' then return end
  if isMended or isOpenMended then mended = mended + 1 end
  isChanged = isChanged or isMended
  isChanged = isChanged or dues > 0
  if isChanged then addToHeirs(limiter) end
  if gone then granted[nameOf[i]] = 0 end
  if not limiter.isReserving then return isChanged and saveLimits(limiter, nameOf[i]) end
  local isMetNow = mode == 'r' and was >= 0 and not isMet
  if isChanged or opens or isEnded or gone or isMetNow or isOpenMended then
    return saveOpen(limiter, i, isChanged, opens, isEnded)
  end
end
