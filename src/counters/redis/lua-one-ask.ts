/**
 * One ask of gcra or of a sliding window, nearly all there are, without the calls and tables of the general way: it answers
 * into the list after place `size` and says how long that is then. Within its window a sliding counter that does not grow
 * shorter is overwritten in place, which keeps its time to live: it ends with the next window all the same.
 */
export const ONE_ASK = `
-- What stood before goes from the list: a reader would take it for the numbers of the next key.
local function failOne(after, size, text)
  after[size + 1], after[size + 2], after[size + 3] = text, nil, nil
  return size + 1
end
local function oneOfGcra(key, order, after, size)
  local value = pcall('GET', key)
  local used, elapsed = 0, 0
  if value then
    if value.err then return failOne(after, size, value.err) end
    local _, _, units, tick = find(value, '^(%d+) (%d+)$')
    units, tick = tonumber(units), tonumber(tick)
    if not units or units > MOST or tick > MOST then
      return failOne(after, size, NOT_OURS)
    end
    used, elapsed = units, order.now - tick
    if elapsed > 0 then
      used, elapsed = units - elapsed * order.limit, 0
      if used < 0 then used = 0 end
    end
  end
  after[size + 1] = used
  after[size + 2] = elapsed
  if used > order.room then return size + 2 end
  local charged = used + order.cost
  local ms = ceil((ceil(charged / order.limit) - elapsed) * order.micros / 1000) + 1000
  if ms > 315576000001000 then ms = 315576000001000 end
  local text = elapsed == 0 and format(WHOLE, charged) .. order.at or format(WHOLE .. ' ' .. WHOLE, charged, order.now - elapsed)
  local done = pcall('PSETEX', key, format(WHOLE, ms), text)
  if not done.err then return size + 2 end
  return failOne(after, size, done.err)
end
local function oneOfWindows(key, order, after, size)
  local value = pcall('GET', key)
  local period = order.period
  local used, previous, elapsed, isSame = 0, 0, order.now % period, false
  if value then
    if value.err then return failOne(after, size, value.err) end
    local _, _, window, before, count = find(value, '^(%d+) (%d+) (%d+)$')
    window, before, count = tonumber(window), tonumber(before), tonumber(count)
    if not count or window * period > MOST or before > MOST_HITS_OF_WINDOW or count > MOST_HITS_OF_WINDOW then
      return failOne(after, size, NOT_OURS)
    end
    local since = order.now - window * period
    if since < period then used, previous, elapsed, isSame = count, before, since, since >= 0
    elseif since < 2 * period then previous, elapsed = count, since - period end
  end
  after[size + 1] = used
  after[size + 2] = previous
  after[size + 3] = elapsed
  local free = order.capacity - used * period
  if previous > 0 then free = free - previous * (elapsed > 0 and period - elapsed or period) end
  if free < order.cost then return size + 3 end
  local text = format(WINDOWS, (order.now - elapsed) / period, previous, used + order.hits)
  local done
  if isSame and #text >= #value then
    done = pcall('SETRANGE', key, '0', text)
    if type(done) == 'number' then return size + 3 end
  else
    local ms = ceil((2 * period - elapsed) * order.micros / 1000) + 1000
    if ms > 315576000001000 then ms = 315576000001000 end
    done = pcall('PSETEX', key, format(WHOLE, ms), text)
    if not done.err then return size + 3 end
  end
  return failOne(after, size, done.err)
end
local function prepareOneAsk(order)
  if order.times ~= 1 or order.hits <= 0 or order.hits > order.size then return end
  if order.charging or order.isCount then return end
  if order.kind == 'g' then
    order.one, order.room, order.at = oneOfGcra, order.capacity - order.cost, format(' ' .. WHOLE, order.now)
  else
    order.one = oneOfWindows
  end
end
`;
