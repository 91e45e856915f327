-- The record of a counter is packed (see `recordOf` of budgets/save.lua); operators see it as text, as in core/budgets/record.ts.
local NOT_OURS = redis.error_reply(NO_INTEGER)
local function textOf(value, from)
  if from > #value then return '' end
  local _, last, layout = string.find(value, '^([^\n]*)\n', from)
  if not last then return nil end
  local text, at = '', last + 1
  for id, count in string.gmatch(layout, '([^ ;]+) (%d);') do
    if at + 8 * count > #value + 1 then return nil end
    text = text .. id
    for _ = 1, count do
      text = text .. ' ' .. string.format('%.0f', (struct.unpack('<d', value, at)))
      at = at + 8
    end
    text = text .. ';'
  end
  return at == #value + 1 and text
end
local function isLog(id)
  return string.find(id, '^l%d+$') ~= nil
end
-- The hits of a log in parts of eight, the last of which is filled with zeros.
local function partsOfLog(id, times)
  local layout, at = '', 0
  while at == 0 or at < #times do
    layout = layout .. id .. (at > 0 and '+' .. at / 8 or '') .. ' 8;'
    at = at + 8
  end
  for i = #times + 1, at do times[i] = 0 end
  return layout
end
local function packedOf(text)
  if text == '' then return '' end
  local layout, figures = '', ''
  for id, all in string.gmatch(text, '([^ ;]+)([ %d]+);') do
    local list = {}
    for figure in string.gmatch(all, '%d+') do list[#list + 1] = tonumber(figure) end
    layout = layout .. (isLog(id) and partsOfLog(id, list) or id .. ' ' .. #list .. ';')
    for i, figure in ipairs(list) do list[i] = struct.pack('<d', figure) end
    figures = figures .. table.concat(list)
  end
  return layout .. '\n' .. figures
end
-- A record with a part in place of that with its name, or of all where there is no name; nothing where it is not ours.
local function putPart(value, from, head, part)
  local text, others = head == '' and '' or textOf(value, from), ''
  if not text then return nil end
  local id = string.sub(head, 1, -2)
  for one in string.gmatch(text, '[^;]+;') do
    local isOld = string.sub(one, 1, #head) == head or isLog(id) and string.sub(one, 1, #id + 1) == id .. '+'
    if not isOld then others = others .. one end
  end
  return packedOf(others .. part)
end
