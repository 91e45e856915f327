import fc from 'fast-check';
import { playSchedule } from '../../support/model/play-schedule';
import { schedules } from '../../support/model/schedules';
import { SETUPS } from '../../support/scenario/stages';

it('counts in memory as the pages promise', async () => {
  const setup = SETUPS.memory();
  await fc.assert(
    fc.asyncProperty(schedules, (schedule) => playSchedule(schedule, setup)),
    { numRuns: 60 },
  );
});
