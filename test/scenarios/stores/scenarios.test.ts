import { describeWithStores } from '../../support/near-stores';
import { describeScenarios } from '../../support/scenario/describe-scenarios';
import { SETUPS, type Setup } from '../../support/scenario/stages';

describeWithStores.each(['redis', 'two instances', 'leases', 'memcached'] as const)(
  'with %s',
  (name) => {
    let setup: Setup;
    beforeAll(async () => {
      setup = await SETUPS[name]();
    });
    afterAll(() => setup.close());

    describeScenarios(name, () => setup);
  },
);
