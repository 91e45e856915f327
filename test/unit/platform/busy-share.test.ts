import { createBusyShare } from '../../../src/platform/busy-share';

it('says the busy share of the last half second or more, also to readers that follow each other closely', () => {
  let now = { active: 900, idle: 100 };
  const share = createBusyShare(() => now);
  const after = (active: number, idle: number): number => {
    now = { active: now.active + active, idle: now.idle + idle };
    return share();
  };
  expect(after(10, 0)).toBe(0);
  expect(after(240, 750)).toBe(0.25);
  // The work of the first reader is not the share that the second one reads.
  expect(after(5, 0)).toBe(0.25);
  expect(after(495, 500)).toBe(0.5);
});
