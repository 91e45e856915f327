import { KINDS } from '../../../core/kinds/kinds';
import type { KeyPlaces } from '../lua';

/** How many figures the record keeps of a limit, by the letter of its kind; of a window its count and its end. */
const KEPT = KINDS.flatMap(({ letter, lua: { own } }) =>
  own === undefined ? [] : [`${letter} = ${String(own.kept.length)}`],
);

/** Reads the arguments of `budgetScript`, in Lua. */
export function argumentsLua({ key }: KeyPlaces): string {
  return `
local KEPT = { ${KEPT.join(', ')} }
local function take()
  at = at + 1
  return ARGV[at - 1]
end
local function takeNumber()
  return tonumber(take())
end
local function readLimit()
  local limit = { id = take(), letter = take(), size = takeNumber(), isCharging = take() == '1' }
  if limit.letter == 'i' then
    limit.isSlots = true
    return limit
  end
  limit.limit, limit.period, limit.micros = takeNumber(), takeNumber(), takeNumber()
  local kept = KEPT[limit.letter]
  if not kept then
    limit.isWindow, kept = true, 2
    limit.starts, limit.ends, limit.lasts = takeNumber() * 1000, takeNumber(), takeNumber() * 1000
  end
  limit.now, limit.capacity = floor(micros / limit.micros), limit.size * limit.period
  limit.part, limit.bytes, limit.form = limit.id .. ' ' .. kept, 8 * kept, '<' .. ('d'):rep(kept)
  return limit
end
-- What a record begins with, and all its bytes: where blocks have nothing to say, and where they have.
local function layoutOf(text, bytes, parts)
  for _, one in ipairs(parts) do
    if one.part then text, bytes = text .. one.part .. ';', bytes + one.bytes end
  end
  return text, bytes
end
local function addLayouts(gate)
  local text, bytes = layoutOf('', 0, gate.limits)
  gate.layouts = { { text = text .. '\\n', bytes = #text + 1 + bytes } }
  if #gate.blocks == 0 then return end
  text, bytes = layoutOf(text, bytes, gate.blocks)
  gate.layouts[2] = { text = text .. '\\n', bytes = #text + 1 + bytes }
end
local function readGate()
  local flags = take()
  local gate = { limits = {}, blocks = {}, lease = takeNumber() }
  gate.isReserving, gate.isReleased = find(flags, 'r') ~= nil, find(flags, 'l') ~= nil
  gate.isForced, gate.isShadow = find(flags, 'f') ~= nil, find(flags, 's') ~= nil
  for j = 1, takeNumber() do gate.limits[j] = readLimit() end
  for b = 1, takeNumber() do
    gate.blocks[b] = {
      part = take() .. ' 5', bytes = 40,
      after = takeNumber(), within = takeNumber(), lasts = takeNumber(), upTo = takeNumber(), limit = takeNumber()
    }
  end
  addLayouts(gate)
  addOneLimit(gate)
  return gate
end
local function readOrder()
  local order = { letter = take(), holds = take() == '1', text = take(), times = takeNumber() }
  order.hits = tonumber(order.text)
  if order.letter == 'b' then
    order.gate, order.mode = gates[takeNumber()], take()
    if order.mode ~= 'a' and order.mode ~= 'l' then order.one = order.gate.one end
    return order
  end
  order.charging = take() == '1'
  order.limit, order.size, order.period, order.micros = takeNumber(), takeNumber(), takeNumber(), takeNumber()
  order.now, order.capacity = floor(micros / order.micros), order.size * order.period
  return order
end
for i = 1, takeNumber() do gates[i] = readGate() end
for i = 1, takeNumber() do orders[format('%d', i)] = readOrder() end
for r = 1, takeNumber() do runEnds[r] = takeNumber() end
-- The ask at a place, for the general way.
local function readAsk(i)
  local order = orders[ARGV[at]]
  at = at + 1
  orderOf[i], nameOf[i], hitsOf[i] = order, ${key}, order.hits
  if order.gate then
    if order.mode ~= 'a' then
      local id = ARGV[at]
      if id ~= '' then idOf[i] = id end
      hitsOf[i] = tonumber(ARGV[at + 1])
      at = at + 2
    end
  elseif not KEPT[order.letter] then
    ttlOf[i] = ARGV[at]
    at = at + 1
  end
end
`;
}
