import { join } from 'node:path';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { areNear, comparable, partsOf, type Difference } from './compare';
import { makeUp, type MadeUp } from './scenarios';
import { probeFeatures, startPlayed, type Features, type Played } from './services';

/** Each start of the two services takes the next of these. */
const SETTINGS: readonly Readonly<Record<string, string>>[] = [
  {},
  { NEAR_LIMIT_RATIO: '0.5' },
  { LIMIT_RESPONSE_HEADERS_ENABLED: 'true' },
  { LOCAL_CACHE_SIZE_IN_BYTES: '1048576' },
  { SHADOW_MODE: 'true' },
  { CACHE_KEY_PREFIX: 'pre:' },
  { QUOTA_MODE: 'true' },
];
const SCENARIOS_OF_START = 200;
const OURS = [process.execPath, join(__dirname, '../../dist/src/bin/ratelimit.js')] as const;

interface Side {
  readonly played: Played;
  readonly redis: RedisServer;
}

/** Plays made-up scenarios on the reference and on the built service side by side (docs/internals/testing.md). */
async function run(): Promise<void> {
  const { REFERENCE = '', SCENARIOS = '10000', FIRST = '1' } = process.env;
  if (REFERENCE === '') throw new Error('REFERENCE names the binary of the reference');
  const [theirs, ours] = await Promise.all([startRedisServer(), startRedisServer()]);
  const features = await probeFeatures([REFERENCE], theirs);
  console.log(`the reference knows ${JSON.stringify(features)}`);
  const settings = SETTINGS.filter((one) => features.quota || one['QUOTA_MODE'] === undefined);
  const differences: Difference[] = [];
  let left = Number(SCENARIOS);
  let straddled = 0;
  for (let start = 0; left > 0; start += 1) {
    const first = Number(FIRST) + start * SCENARIOS_OF_START;
    const of = settings[start % settings.length] as Readonly<Record<string, string>>;
    const done = await playStart({ first, settings: of, features, theirs, ours, REFERENCE });
    left -= done.played;
    straddled += done.straddled;
    differences.push(...done.differences);
    const total = Number(SCENARIOS) - left;
    console.log(
      `${String(total)} scenarios, ${String(straddled)} more at the edge of a window, ${String(differences.length)} differences`,
    );
    for (const one of done.differences.slice(0, 3)) console.log(JSON.stringify(one, undefined, 1));
  }
  await Promise.all([theirs.stop(), ours.stop()]);
  const seeds = new Set(differences.map(({ seed }) => seed));
  console.log(`${String(seeds.size)} scenarios differ: ${[...seeds].slice(0, 50).join(' ')}`);
  process.exitCode = differences.length > 0 ? 1 : 0;
}

interface Start {
  readonly first: number;
  readonly settings: Readonly<Record<string, string>>;
  readonly features: Features;
  readonly theirs: RedisServer;
  readonly ours: RedisServer;
  readonly REFERENCE: string;
}

async function playStart({ first, settings, features, theirs, ours, REFERENCE }: Start) {
  const hasOverrides = settings['LOCAL_CACHE_SIZE_IN_BYTES'] === undefined;
  const scenarios = Array.from({ length: SCENARIOS_OF_START }, (_, at) =>
    makeUp(first + at, { ...features, hasOverrides }),
  );
  const rules = Object.fromEntries(
    scenarios.map(({ domain, rules: text }) => [`${domain}.yaml`, text]),
  );
  const sides: readonly [Side, Side] = [
    { played: await startPlayed([REFERENCE], rules, theirs, settings), redis: theirs },
    { played: await startPlayed(OURS, rules, ours, settings), redis: ours },
  ];
  const differences: Difference[] = [];
  const atEdges = new Set<number>();
  for (const scenario of scenarios) {
    const found = await playScenario(scenario, sides);
    if (found === 'at an edge') atEdges.add(scenario.seed);
    else differences.push(...found);
    await Promise.all(sides.map(({ redis }) => redis.client.flushall()));
  }
  const [reference, counted] = await Promise.all(sides.map(({ played }) => played.counted()));
  for (const scenario of scenarios.filter(({ seed }) => !atEdges.has(seed))) {
    const both = [comparable(reference ?? {}, scenario), comparable(counted ?? {}, scenario)];
    if (JSON.stringify(both[0]) === JSON.stringify(both[1])) continue;
    differences.push({
      seed: scenario.seed,
      what: 'statistics',
      ...leftOf(both[0] ?? {}, both[1] ?? {}),
    });
  }
  await Promise.all(sides.map(({ played }) => played.stop()));
  const played = scenarios.length - atEdges.size;
  return { differences, played, straddled: atEdges.size };
}

function leftOf(
  reference: Readonly<Record<string, number>>,
  ours: Readonly<Record<string, number>>,
) {
  const only = (one: Readonly<Record<string, number>>, other: Readonly<Record<string, number>>) =>
    Object.fromEntries(Object.entries(one).filter(([name, value]) => other[name] !== value));
  return { reference: only(reference, ours), ours: only(ours, reference) };
}

/** Seconds at which both were asked the same must be the same, or they may have counted in two windows. */
async function playScenario(
  scenario: MadeUp,
  [theirs, ours]: readonly [Side, Side],
): Promise<readonly Difference[] | 'at an edge'> {
  const { seed, requests, rules } = scenario;
  const differences: Difference[] = [];
  const isFine = /"unit":"second"/i.test(rules);
  const edge = () => Math.floor(Date.now() / (isFine ? 1_000 : 60_000));
  const begun = edge();
  for (const [at, request] of requests.entries()) {
    const [a, b] = await Promise.all([theirs.played.ask(request), ours.played.ask(request)]);
    const [one, other] = [partsOf(a.response), partsOf(b.response)];
    const isSame = (a.code === 0) === (b.code === 0) && one.fixed === other.fixed;
    if (isSame && areNear(one.seconds, other.seconds)) continue;
    differences.push({
      seed,
      what: `answer ${String(at)} to ${JSON.stringify(request)}`,
      reference: a,
      ours: b,
    });
  }
  const [reference, counted] = await Promise.all([keysOf(theirs.redis), keysOf(ours.redis)]);
  if (edge() !== begun) return 'at an edge';
  const isEqual = JSON.stringify(reference.values) === JSON.stringify(counted.values);
  // Where a rule and a limit in a request of other units meet in one key, the reference takes the life of the last hit.
  const isLifeCompared = !requests.some(({ descriptors }) =>
    descriptors.some(({ limit }) => limit),
  );
  if (!isEqual || (isLifeCompared && !areNear(reference.seconds, counted.seconds)))
    differences.push({ seed, what: `keys under ${rules}`, reference, ours: counted });
  return differences;
}

const READ_ALL = `local rows = {}
for at, key in ipairs(redis.call('KEYS', '*')) do
  rows[at] = {key, redis.call('GET', key), redis.call('TTL', key)}
end
return rows`;

async function keysOf({ client }: RedisServer) {
  const rows = (await client.eval(READ_ALL, 0)) as [key: string, value: string, ttl: number][];
  rows.sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    values: rows.map(([key, value]) => [key, value]),
    seconds: rows.map(([, , ttl]) => ttl),
  };
}

void run();
