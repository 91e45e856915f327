import type { KindLua } from './kind.lua';

/** What others wrote under a key counts as INCRBY takes it: an integer below 0 as 0, where it is lifted to. */
export const windowLua: KindLua = {
  decode: `
    local count = find(value, '^%-?%d+$') and tonumber(value)
    if not count or count > 2 ^ 63 then NOT_OURS() end
    used = math.max(0, count)`,
  absent: '',
  has: { previous: false, elapsed: false },
  free: 'order.capacity - used',
  unit: '1',
};
