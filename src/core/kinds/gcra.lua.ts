import type { KindLua } from './kind.lua';

export const gcraLua: KindLua = {
  decode: `
    local _, _, units, tick = find(value, '^(%d+) (%d+)$')
    units, tick = tonumber(units), tonumber(tick)
    if not units or units > MOST or tick > MOST then NOT_OURS() end
    used, elapsed = units, order.now - tick
    if elapsed > 0 then
      used, elapsed = units - elapsed * order.limit, 0
      if used < 0 then used = 0 end
    end`,
  absent: '',
  has: { previous: false, elapsed: true },
  free: 'order.capacity - used',
  unit: 'order.period',
  own: {
    most: 'MOST',
    ready: `format(' ' .. WHOLE, order.now)`,
    encode: `elapsed == 0 and format(WHOLE, used) .. order.ready or format(WHOLE .. ' ' .. WHOLE, used, order.now - elapsed)`,
    life: 'ceil(used / order.limit) - elapsed',
  },
};
