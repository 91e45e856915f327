import {
  ONE_RULE,
  askAll,
  expectToWithstand,
  inMemcached,
  startSmallService,
  stopSmallServices,
} from '../../support/edge/small-service';

/** What a store is asked for. */

afterAll(stopSmallServices);

it('answers others while 40,000 descriptors are looked up in memcached', async () => {
  const service = await startSmallService(ONE_RULE, await inMemcached());
  const descriptors = Array.from({ length: 40_000 }, (_, at) => ({
    entries: [{ key: 'k', value: String(at) }],
  }));
  await expectToWithstand(service, async () => {
    await askAll(service, 2, () => ({ domain: 'd', descriptors }), 1);
    return undefined;
  });
});
