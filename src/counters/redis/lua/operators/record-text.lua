-- Operators see the record of a counter as text, as in core/budgets/record.ts.
local NOT_OURS = redis.error_reply(NO_INTEGER)
local function textOf(value, from)
  if from > #value then return '' end
  local places, parts = placesOf(value, from)
  if not places then return nil end
  local text = ''
  for _, part in ipairs(parts) do
    local at = places[part]
    text = text .. sub(part, 1, -3)
    for f = 0, sub(part, -1) - 1 do text = text .. ' ' .. format('%.0f', (read('<d', value, at + 8 * f))) end
    text = text .. ';'
  end
  return text
end
local function isLog(id)
  return find(id, '^l%d+$') ~= nil
end
-- The hits of a log in parts of eight, the last of which is filled with zeros.
local function partsOfLog(id, times)
  local layout, p = '', 0
  while p == 0 or 8 * p < #times do
    p = p + 1
    layout = layout .. nameOfLog(id, p) .. ';'
  end
  for i = #times + 1, 8 * p do times[i] = 0 end
  return layout
end
local function packedOf(text)
  if text == '' then return '' end
  local layout, figures = '', ''
  for id, all in gmatch(text, '([^ ;]+)([ %d]+);') do
    local list = {}
    for figure in gmatch(all, '%d+') do list[#list + 1] = tonumber(figure) end
    layout = layout .. (isLog(id) and partsOfLog(id, list) or id .. ' ' .. #list .. ';')
    for i, figure in ipairs(list) do list[i] = packed('<d', figure) end
    figures = figures .. table.concat(list)
  end
  return layout .. '\n' .. figures
end
-- A record with a part in place of that with its name, or of all where there is no name; nothing where it is not ours.
local function putPart(value, from, head, part)
  local text, others = head == '' and '' or textOf(value, from), ''
  if not text then return nil end
  local id = sub(head, 1, -2)
  for one in gmatch(text, '[^;]+;') do
    local isOld = sub(one, 1, #head) == head or isLog(id) and sub(one, 1, #id + 1) == id .. '+'
    if not isOld then others = others .. one end
  end
  return packedOf(others .. part)
end
