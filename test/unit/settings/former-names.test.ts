import { formerNames } from '../../../src/settings/former-names';

describe('former names', () => {
  it.each([
    ['KVSTORE', ['REDIS']],
    ['KVSTORE_URL', ['REDIS_URL']],
    ['USE_TAGGED_STATSD', ['USE_DOG_STATSD']],
    ['KVSTORES_URL', []],
    ['PORT', []],
  ])('of %s are %j', (name, former) => {
    expect(formerNames(name)).toEqual(former);
  });
});
