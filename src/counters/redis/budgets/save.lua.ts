/**
 * Writes a counter, in Lua. A command that is refused leaves a counter that refuses too much, never one that admits too much: a
 * key is given its time before what needs it, and what is open goes before the sum says so.
 */
export const SAVE_LUA = `
local function isBlockKept(gate)
  for b = 1, #gate.blocks do
    if KQ[b] > 0 then return true end
  end
  return false
end
local function isUsed(gate)
  for j = 1, #gate.limits do
    if not gate.limits[j].isSlots and (U[j] > 0 or P[j] > 0) then return true end
  end
  return isBlockKept(gate)
end
-- What is kept of limits and blocks: the name of each part with the number of its figures, the end of the line, and the figures as
-- doubles, which are read and written three times as fast as text.
local function recordOf(gate)
  local layout, figures = gate.layouts[1].text, ''
  for j = 1, #gate.limits do
    local limit = gate.limits[j]
    if limit.isWindow then figures = figures .. packed('<dd', U[j], E[j])
    elseif not limit.isSlots then
      figures = figures .. packed(limit.form, limit.kind.figures(limit, U[j], P[j], E[j]))
    end
  end
  if isBlockKept(gate) then
    layout = gate.layouts[2].text
    for b = 1, #gate.blocks do figures = figures .. packed(BLOCK, KS[b], KE[b], KU[b], KT[b], KQ[b]) end
  end
  return layout .. figures
end
-- Until when limits and blocks are needed, and each charge of what is held that is made when the last lease ends.
local function neededUntil(gate)
  local now, needed, more = nowMs, nowMs, 0
  if open > 0 then
    now, more = lasts[1], held
    for r = 2, runs do now = max(now, lasts[r]) end
  end
  for j = 1, #gate.limits do
    local limit = gate.limits[j]
    if limit.isWindow then
      needed = max(needed, nowMs + E[j] * 1000 - processMs + SPARE_MS)
      if more > 0 then needed = max(needed, now + limit.lasts + SPARE_MS) end
    elseif not limit.isSlots then
      local used = min(U[j] + more * limit.unit, limit.most)
      needed = max(needed, now + ceil(limit.kind.life(limit, used, P[j], more > 0 and 0 or E[j]) * limit.micros / 1000))
    end
  end
  for b = 1, #gate.blocks do
    if KQ[b] > 0 then needed = max(needed, KE[b], KT[b] > 0 and KQ[b] + KT[b] or 0) end
  end
  return max(needed, now) + 1000
end
-- Whether the key has to be kept for longer: by some more than it needs, so that few asks move its end.
local function isKeptLonger(gate)
  local needed = neededUntil(gate)
  if needed <= ends then return false end
  ends = floor(min(needed + min((needed - nowMs) / 4, 600000) + 5000, nowMs + LONGEST))
  return true
end
local function delete(name)
  local done = stored and pcall('DEL', name)
  return type(done) == 'table' and done.err
end
local function saveLimits(gate, name)
  if not isUsed(gate) then return delete(name) end
  local ms = min(neededUntil(gate) - nowMs, LONGEST)
  return pcall('PSETEX', name, format(WHOLE, ms), recordOf(gate)).err
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
local function saveOpen(gate, i, isChanged, opens, isEnded)
  local name, id, size = nameOf[i], idOf[i], 4
  if opens then
    local hits = hitsOf[i]
    local at, due = enqueue(gate)
    held, open = min(held + hits, MOST), open + 1
    fields[7] = packed('>d', at)
    fields[5], fields[6] = id, packed('<dc8B', hits, fields[7], 0)
    fields[8] = packed('<ddc0', due, hits, id)
    size = 8
  elseif open == 0 and (isChanged or not stored or #stored < recordAt) and not isUsed(gate) then
    return delete(name)
  elseif was >= 0 and not isEnded then
    fields[5], fields[6], size = id, packed('<dc8B', was, number, 1), 6
  end
  local isLater = isKeptLonger(gate)
  local wrong = isLater and stored and expireAt(name, ends) or endOpen(name, id, isEnded)
  if wrong then return wrong end
  local record = ''
  if not isChanged then record = stored and sub(stored, recordAt) or ''
  elseif isUsed(gate) then record = recordOf(gate) end
  fields[2], fields[4] = name, openText() .. record
  local done = pcall(unpack(fields, 1, size))
  if type(done) == 'table' then return done.err end
  wrong = isLater and not stored and expireAt(name, ends)
  -- It would stay for ever.
  if wrong then pcall('DEL', name) end
  return wrong
end
-- Takes the ask of a place and writes what comes of it; answers the text of an error, if any.
local function saveBudget(order, i)
  local gate, mode = order.gate, order.mode
  local isChanged, opens, isEnded = commitBudget(order, i)
  if mode == 'l' then return end
  isChanged = isChanged or dues > 0
  if not gate.isReserving then return isChanged and saveLimits(gate, nameOf[i]) end
  local isMetNow = mode == 'r' and was >= 0 and not isMet
  if isChanged or opens or isEnded or gone or isMetNow then
    return saveOpen(gate, i, isChanged, opens, isEnded)
  end
end
`;
