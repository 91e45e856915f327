import fc from 'fast-check';
import { playSchedule } from '../../support/model/play-schedule';
import { schedules } from '../../support/model/schedules';
import { describeWithStores } from '../../support/near-stores';
import { SETUPS } from '../../support/scenario/stages';

describeWithStores.each(['redis', 'two instances', 'leases'] as const)('with %s', (name) => {
  it('counts as the pages promise', async () => {
    const setup = await SETUPS[name]();
    await fc.assert(
      fc.asyncProperty(schedules, (schedule) => playSchedule(schedule, setup)),
      { numRuns: 100 },
    );
    await setup.close();
  });
});
