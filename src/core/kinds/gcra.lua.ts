import { decodeFigures, type KindLua } from './kind.lua';

const KEPT = {
  kept: ['units', 'tick'],
  advance: `
    if units > MAX_EXACT or tick > MAX_EXACT then NOT_OURS() end
    used, elapsed = units, order.now - tick
    if elapsed > 0 then
      used, elapsed = units - elapsed * order.drain, 0
      if used < 0 then used = 0 end
    elseif elapsed < order.astray then elapsed, isAstray = 0, true end`,
} as const;

export const gcraLua: KindLua = {
  decode: decodeFigures(KEPT),
  absent: '',
  has: { previous: false, elapsed: true },
  free: 'order.capacity - used',
  unit: 'order.period',
  record: {
    ...KEPT,
    figures: ['used', 'order.now - elapsed'],
    most: 'MAX_EXACT',
    ready: `format(' ' .. WHOLE, order.now)`,
    encode: `elapsed == 0 and format(WHOLE, used) .. order.ready or format(WHOLE .. ' ' .. WHOLE, used, order.now - elapsed)`,
    life: 'ceil(used / order.drain) - elapsed',
    undo: 'used = max(0, used - max(0, hits * order.period - max(0, order.now - tick) * order.drain))',
  },
};
