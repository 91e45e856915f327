import { describeWithStores } from '../../support/near-stores';
import { describeScenarios } from '../../support/scenario/describe-scenarios';
import { SETUPS, type Setup } from '../../support/scenario/stages';

const STORES = [
  'redis',
  'two instances',
  'two workers',
  'late instance',
  'leases',
  'memcached',
] as const;

describeWithStores.each(STORES)('with %s', (name) => {
  let setup: Setup;
  beforeAll(async () => {
    setup = await SETUPS[name]();
  });
  afterAll(() => setup.close());

  describeScenarios(name, () => setup);
});
