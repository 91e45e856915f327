import { decodeFigures, type KindLua } from './kind.lua';

const KEPT = {
  kept: ['window', 'before', 'count'],
  advance: `
    if window * order.period > MAX_EXACT or before > 100000000 or count > 100000000 then NOT_OURS() end
    local period = order.period
    local since = order.now - window * period
    if since < order.astray then used, previous, elapsed, isAstray = count, before, since % period, true
    elseif since < period then used, previous, elapsed, isSame = count, before, since, since >= 0
    elseif since < 2 * period then previous, elapsed = count, since - period
    else elapsed = since % period end`,
} as const;

export const slidingLua: KindLua = {
  decode: decodeFigures(KEPT),
  absent: 'elapsed = order.now % order.period',
  has: { previous: true, elapsed: true },
  free: `order.capacity - used * order.period - (previous > 0 and max(0, previous * (elapsed > 0 and order.period - elapsed or order.period) - order.period) or 0)`,
  unit: '1',
  record: {
    ...KEPT,
    figures: ['(order.now - elapsed) / order.period', 'previous', 'used'],
    most: '100000000',
    encode: `format(WHOLE .. ' ' .. WHOLE .. ' ' .. WHOLE, (order.now - elapsed) / order.period, previous, used)`,
    life: '2 * order.period - elapsed',
    undo: `
    local windows = floor((order.now - elapsed) / order.period) - floor(tick / order.period)
    if windows == 0 then used = max(0, used - hits)
    elseif windows == 1 then previous = max(0, previous - hits) end`,
    // It still ends with the next window. A shorter text would leave the end of the longer one.
    inPlace: 'isSame and #text >= #value',
  },
};
