import { playLeases, scheduleOf } from '../../../support/lease-play/play-leases';

const SCHEDULES = Number(process.env['LEASE_SCHEDULES'] ?? 40);
const FIRST = Number(process.env['LEASE_FIRST'] ?? 1);

it('leases keep the four sentences of their promise, whatever happens and whenever', async () => {
  for (let seed = FIRST; seed < FIRST + SCHEDULES; seed += 1) {
    const { broken } = await playLeases(scheduleOf(seed), seed);
    expect({ seed, broken: broken.slice(0, 5) }).toEqual({ seed, broken: [] });
  }
});

it.each([30_496, 30_535, 32_894, 33_003])(
  'keeps them in schedule %s, in which one was broken once',
  async (seed) => {
    const { broken } = await playLeases(scheduleOf(seed), seed);
    expect(broken).toEqual([]);
  },
);
