import type { KindLua } from './kind.lua';

/** Values that others wrote under a key are read as INCRBY reads them: a negative integer as 0, to which it is raised. */
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
