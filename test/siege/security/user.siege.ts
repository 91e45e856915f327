import { startStatsdTcp } from '../../support/statsd-server';
import { ask } from '../../support/edge/service';
import {
  ONE_RULE,
  askAll,
  expectToWithstand,
  expired,
  startSmallService,
  stopSmallServices,
  using,
} from '../../support/edge/small-service';

/** What a user of a proxied site can do, by the values of headers alone. */

afterAll(stopSmallServices);

const NESTED = `domain: d
descriptors:
  - key: a
    descriptors:
      - { key: b, rate_limit: { unit: day, requests_per_unit: 1000000 } }
      - { key: c, rate_limit: { unit: day, requests_per_unit: 1000000 } }
`;

it('answers others while a dashboard is watched and keys of 2,000 underscores are the hottest', async () => {
  const service = await startSmallService(NESTED);
  const watching = new AbortController();
  const events = await fetch(`${service.debug}/ui/events`, { signal: watching.signal });
  const reader = events.body?.getReader();
  const value = (at: number) => `${String(at % 40)}${'_'.repeat(2_000)}`;
  const request = (at: number) => {
    const [a, b] = [
      { key: 'a', value: value(at) },
      { key: 'b', value: 'x' },
    ];
    return { domain: 'd', descriptors: [{ entries: [a, b] }] };
  };
  await expectToWithstand(service, async () => {
    // The events of three seconds show keys of the attack; a stalled service sends none.
    for (let event = 0; event < 3; event++) {
      await askAll(service, 400, request, 10);
      await Promise.race([reader?.read(), expired(4_000)]);
    }
    return undefined;
  });
  watching.abort();
});

it('lives when 10,000 users send values of 60 kB, with counters in memory', async () => {
  const service = await startSmallService(ONE_RULE, { MEMORY_MAX_BYTES: String(2 ** 24) });
  const tail = 'x'.repeat(60_000);
  await expectToWithstand(service, async () => {
    await askAll(service, 10_000, (at) => ({
      domain: 'd',
      descriptors: [{ entries: [{ key: 'k', value: `${String(at)}${tail}` }] }],
    }));
    return undefined;
  });
});

it('answers others while statistics are named by a pattern with three greedy groups', async () => {
  const statsd = await using(startStatsdTcp());
  const service = await startSmallService(NESTED, {
    DISABLE_STATS: 'false',
    USE_TAGGED_STATSD: 'true',
    STATSD_PROTOCOL: 'tcp',
    STATSD_HOST: '127.0.0.1',
    STATSD_PORT: String(statsd.port),
    STATS_FLUSH_INTERVAL: '500ms',
    USE_TAGGED_STATSD_MOGRIFIERS: 'GREEDY',
    TAGGED_STATSD_MOGRIFIER_GREEDY_PATTERN:
      '^ratelimit\\.service\\.rate_limit\\.(.*)\\.(.*)\\.(.*)\\.over_limit$',
    TAGGED_STATSD_MOGRIFIER_GREEDY_NAME: 'ratelimit.over_limit',
    TAGGED_STATSD_MOGRIFIER_GREEDY_TAGS: 'domain:$1',
  });
  const request = (at: number) => {
    const domain = `${String(at % 40)}${'.'.repeat(1_000)}`;
    return { domain, descriptors: [{ entries: [{ key: 'k' }] }] };
  };
  /** Each one holds the line of a rule that is asked all the time. */
  const flushes = () => statsd.lines.filter((line) => line.includes('total_requests')).length;
  await expectToWithstand(service, async () => {
    const until = flushes() + 2;
    for (let round = 0; round < 40 && flushes() < until; round++) {
      await askAll(service, 40, request, 5);
      await ask(service, 'd', 'a=x');
      await expired(50);
    }
    return undefined;
  });
});
