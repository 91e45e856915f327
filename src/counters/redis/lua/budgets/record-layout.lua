-- The record of limits and blocks (see `recordOf` of save.lua): a line with the name of each part and the number of its figures, then
-- the figures as doubles. Returns where each part begins, and the parts in order; nothing where it is not ours.
local function placesOf(value, from)
  local _, last, layout = find(value, '^([^\n]*)\n', from)
  if not last then return nil end
  local places, parts, at = {}, {}, last + 1
  for part, count in gmatch(layout, '([^ ;]+ (%d));') do
    parts[#parts + 1], places[part] = part, at
    at = at + 8 * count
  end
  if at == #value + 1 then return places, parts end
end
-- The parts of a log have eight hits each.
local function nameOfLog(id, p)
  return id .. (p > 1 and '+' .. p - 1 or '') .. ' 8'
end
