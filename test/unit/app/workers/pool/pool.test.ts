import type { ServiceHealth } from '../../../../../src/app/observe/health';
import { Subject } from 'rxjs';
import { createSnapshot } from '../../../../../streams';
import { createPool } from '../../../../../src/app/workers/pool/pool';
import type { FromWorker } from '../../../../../src/app/workers/messages';
import type { CheckSet } from '../../../../../src/request-maps/check';
import type { OwnerPorts } from '../../../../../src/app/compose/decider';
import { compileRules } from '../../../../../src/core/rules/compile';
import type { DomainDefinition } from '../../../../../src/core/rules/definition';
import type { Rules } from '../../../../../src/core/rules/rules';
import { ByteBudget } from '../../../../../src/platform/byte-budget';
import type { LoadResult } from '../../../../../src/rule-sources/load-result';
import { createLiveView } from '../../../../../src/stats/dashboard/create-live-view';
import { createRegistry } from '../../../../../src/stats/registry';
import { createFakeWorkers, type FakeWorker } from '../../../../support/fake-workers';
import { createRecordingLogger } from '../../../../support/recording-logger';

beforeEach(() => jest.useFakeTimers());
afterEach(() => jest.useRealTimers());

const ADDRESSES = { grpc: '127.0.0.1:1', http: '127.0.0.1:2' };
const HELLO: FromWorker = { kind: 'hello' };
const LISTENING: FromWorker = { kind: 'listening', addresses: ADDRESSES };

/** A pool of two workers that do what a test says. */
function start() {
  const { fork, started } = createFakeWorkers({ isAlive: true });
  const registry = createRegistry();
  const loadsSubject = new Subject<LoadResult<Rules>>();
  const definitions = new WeakMap<Rules, readonly DomainDefinition[]>();
  const { logger, lines } = createRecordingLogger();
  const pool = createPool(
    {
      fork,
      registry,
      logger,
      monotonicMs: () => jest.now(),
      loads$: loadsSubject,
      definitionsOf: (rules) => definitions.get(rules) ?? [],
      writeLog: () => undefined,
    },
    { count: 2, storeNames: ['store'], storeDescription: 'Redis' },
  );
  const health = createSnapshot<ServiceHealth>({ serving: true, down: [], ignored: [] });
  const rules = createSnapshot<Rules | undefined>(undefined);
  const isRead = createSnapshot(false);
  const ports: OwnerPorts = {
    checks: createSnapshot<CheckSet | undefined>(undefined),
    rules,
    whyNoRules: createSnapshot(''),
    isRead,
    health,
    components: [],
    certificates: undefined,
    limits: { budget: new ByteBudget(Infinity), maxConnections: 1 },
  };
  const clock = () => 0;
  const random = () => 0;
  const view = createLiveView(
    { rules, registry, clock, monotonicMs: clock, random },
    { keyPrefix: '' },
  );
  const deciders = pool.deciders(ports, view);
  const inForce: LoadResult<Rules>[] = [];
  const failures: unknown[] = [];
  pool.loads$.subscribe((load) => inForce.push(load));
  deciders.run$.subscribe({ error: (error: unknown) => failures.push(error) });
  const load = (domain: string, zones?: Rules['zones']): Rules => {
    const domains = [{ domain, rules: [] }];
    const compiled = { ...compileRules(domains), ...(zones && { zones }) };
    definitions.set(compiled, domains);
    loadsSubject.next({
      ...{
        ok: true,
        digest: '',
        rules: compiled,
        domainCount: 1,
        ruleCount: 0,
        problems: [],
        durationMs: 0,
      },
    });
    return compiled;
  };
  return { pool, deciders, registry, started, inForce, failures, load, lines, rules, isRead };
}

const settled = () => jest.advanceTimersByTimeAsync(0);

function domainsOf({ received }: FakeWorker): readonly string[] {
  return received.flatMap((message) =>
    message.kind === 'rules-part' ? message.chunk.map(({ domain }) => domain) : [],
  );
}

const lastHealth = ({ received }: FakeWorker) =>
  received.filter((message) => message.kind === 'health').at(-1)?.status;

function twoOf(started: readonly FakeWorker[]): readonly [FakeWorker, FakeWorker] {
  return started.slice(-2) as unknown as readonly [FakeWorker, FakeWorker];
}

it('serves once all workers have listened, and from then on while one does', async () => {
  const { pool, deciders, started } = start();
  const [one, two] = twoOf(started);
  for (const worker of [one, two]) worker.say(HELLO);
  one.say(LISTENING);
  expect(pool.serves.current).toBe(false);
  two.say(LISTENING);
  expect(pool.serves.current).toBe(true);
  expect(await deciders.listen()).toEqual(ADDRESSES);
  two.end();
  expect(pool.serves.current).toBe(true);
  one.end();
  expect(pool.serves.current).toBe(false);
});

it('tells a worker that rules were read only where it is sent none: it opens its ports once they are in force', () => {
  const { load, started, rules, isRead } = start();
  const [one, two] = twoOf(started);
  const kinds = ({ received }: FakeWorker) => received.map(({ kind }) => kind);
  isRead.set(true);
  one.say(HELLO);
  expect(kinds(one)).toContain('read');
  rules.set(load('shop'));
  two.say(HELLO);
  expect(kinds(two)).toContain('rules');
  expect(kinds(two)).not.toContain('read');
});

it('always has a worker again within 100 ms when one is killed each second, by turns', async () => {
  const { started } = start();
  const alive = new Map(twoOf(started).map((one) => [one.worker, one]));
  const killedWhenAlone: boolean[] = [];
  for (let second = 0; second < 60; second += 1) {
    const turn = (second % 2) + 1;
    const victim = alive.get(turn);
    if (victim !== undefined) {
      alive.delete(turn);
      killedWhenAlone.push(alive.size === 0);
      victim.end({ signal: 'SIGKILL' });
    }
    for (let at = 0; at < 1_000; at += 100) {
      const known = started.length;
      await jest.advanceTimersByTimeAsync(100);
      for (const one of started.slice(known)) alive.set(one.worker, one);
      expect(alive.size).toBeGreaterThan(0);
    }
  }
  expect(killedWhenAlone).toContain(true);
  // The waits of a worker that is not alone went on to double.
  expect(killedWhenAlone.length).toBeLessThan(45);
});

it('counts a load once the last worker has it in force, and gives it to those that come later', async () => {
  const { started, inForce, load } = start();
  const [one, two] = twoOf(started);
  one.say(HELLO);
  load('shop');
  one.say({ kind: 'in-force', number: 1 });
  await settled();
  expect(inForce).toHaveLength(0);
  two.say(HELLO);
  two.say({ kind: 'in-force', number: 1 });
  await settled();
  expect(inForce).toHaveLength(1);
  expect([domainsOf(one), domainsOf(two)]).toEqual([['shop'], ['shop']]);
});

it('gives each worker the time zones of the rules before the rules, also to one that comes later', () => {
  const { started, load } = start();
  const [one, two] = twoOf(started);
  one.say(HELLO);
  const zone = { data: undefined, origin: { source: 'runtime', release: '2025c' } } as const;
  load('shop', new Map([['Europe/Berlin', zone]]));
  two.say(HELLO);
  for (const { received } of [one, two]) {
    const kinds = received.map(({ kind }) => kind);
    const at = kinds.indexOf('zone');
    expect(received[at]).toEqual({ kind: 'zone', name: 'Europe/Berlin', zone });
    expect(kinds.slice(at + 1)).toEqual(expect.arrayContaining(['rules-part', 'rules']));
    expect(kinds.slice(0, at)).not.toContain('rules-part');
  }
});

it('waits 5 s for a worker that does not take the rules; it is not healthy until it has', async () => {
  const { started, inForce, load, lines } = start();
  const [one, two] = twoOf(started);
  for (const worker of [one, two]) worker.say(HELLO);
  load('shop');
  one.say({ kind: 'in-force', number: 1 });
  await jest.advanceTimersByTimeAsync(4_999);
  expect(inForce).toHaveLength(0);
  await jest.advanceTimersByTimeAsync(1);
  expect(inForce).toHaveLength(1);
  expect([lastHealth(one), lastHealth(two)]).toMatchObject([
    { serving: true, down: [] },
    { serving: false, down: ['workers'] },
  ]);
  expect(lines.at(-1)).toMatchObject({ level: 'warn', fields: { worker: 2 } });
  two.say({ kind: 'in-force', number: 1 });
  expect(lastHealth(two)).toMatchObject({ serving: true, down: [] });
});

it.each([
  ['after all have taken them', true],
  ['before', false],
])(
  'goes back to the rules before when three workers die within 10 s of taking new ones, %s',
  async (_, isTaken) => {
    const { started, inForce, load, registry } = start();
    const [one, two] = twoOf(started);
    const sayBoth = (message: FromWorker) => {
      for (const worker of [one, two]) worker.say(message);
    };
    sayBoth(HELLO);
    load('good');
    sayBoth({ kind: 'in-force', number: 1 });
    await jest.advanceTimersByTimeAsync(20_000);
    load('poison');
    if (isTaken) sayBoth({ kind: 'in-force', number: 2 });
    await settled();
    await die(started, 2);
    expect(domainsOf(started.at(-1) as FakeWorker)).toEqual(['poison']);
    await die(started, 1);
    expect(domainsOf(started.at(-1) as FakeWorker)).toEqual(['good']);
    expect(domainsOf(one).at(-1)).toBe('good');
    const loads = inForce.map((each) => (each.ok ? [...each.rules.domains.keys()] : 'refused'));
    expect(loads).toEqual(isTaken ? [['good'], ['poison'], ['good']] : [['good'], 'refused']);
    // A refused load is counted where every bad load is.
    const errors = registry.counter('ratelimit.service.config_load_error').value;
    expect(errors).toBe(isTaken ? 1 : 0);
    expect(registry.counter('ratelimit.workers.restarts').value).toBe(3);
  },
);

async function die(started: readonly FakeWorker[], times: number): Promise<void> {
  for (let deaths = 1; deaths <= times; deaths += 1) {
    started.at(-1)?.end({ signal: 'SIGSEGV' });
    await jest.advanceTimersByTimeAsync(500);
    started.at(-1)?.say(HELLO);
  }
  await settled();
}

it('keeps the rules when workers die later than that', async () => {
  const { started, load } = start();
  const [one, two] = twoOf(started);
  for (const worker of [one, two]) worker.say(HELLO);
  load('first');
  await settled();
  load('second');
  for (let deaths = 1; deaths <= 4; deaths += 1) {
    await jest.advanceTimersByTimeAsync(10_000);
    started.at(-1)?.end();
    await jest.advanceTimersByTimeAsync(100);
    started.at(-1)?.say(HELLO);
  }
  expect(domainsOf(started.at(-1) as FakeWorker)).toEqual(['second']);
});

it('keeps the rules when workers that have just started die of something else now and then', async () => {
  const { started, load } = start();
  const [one, two] = twoOf(started);
  for (const worker of [one, two]) worker.say(HELLO);
  load('first');
  await settled();
  load('second');
  for (let deaths = 1; deaths <= 4; deaths += 1) {
    await jest.advanceTimersByTimeAsync(30_000);
    started.at(-1)?.end();
    await jest.advanceTimersByTimeAsync(100);
    started.at(-1)?.say(HELLO);
    await settled();
    // It took the rules just now.
    started.at(-1)?.end();
    await jest.advanceTimersByTimeAsync(5_000);
    started.at(-1)?.say(HELLO);
  }
  expect(domainsOf(started.at(-1) as FakeWorker)).toEqual(['second']);
});

it('collects from all workers, and for 200 ms at most', async () => {
  const { pool, started } = start();
  const [one, two] = twoOf(started);
  for (const worker of [one, two]) worker.say(HELLO);
  let collected = 0;
  const collect = () => void pool.collect().then(() => (collected += 1));
  collect();
  for (const worker of [one, two]) worker.say({ kind: 'collected', id: 1 });
  await settled();
  expect(collected).toBe(1);
  collect();
  one.say({ kind: 'collected', id: 2 });
  await jest.advanceTimersByTimeAsync(199);
  expect(collected).toBe(1);
  await jest.advanceTimersByTimeAsync(1);
  expect(collected).toBe(2);
});

it('shows each worker on the dashboard: its calls, the busy share of its loop, its restarts', async () => {
  const { deciders, started } = start();
  const [one, two] = twoOf(started);
  deciders.live.start();
  const quiet = deciders.live.take();
  for (const worker of [one, two]) worker.say(HELLO);
  one.say({ kind: 'gauges', gauges: new Map([['ratelimit.workers.busy', 0.42]]) });
  one.say({ kind: 'figures', figures: { ...quiet, requests: 7 }, outages: [] });
  two.say({ kind: 'gauges', gauges: new Map([['ratelimit.workers.busy', 0.9]]) });
  two.say({ kind: 'figures', figures: { ...quiet, requests: 5 }, outages: [] });
  expect(deciders.live.take()).toMatchObject({
    requests: 12,
    workers: [
      { worker: 1, isUp: true, requests: 7, busy: 0.42, restarts: 0 },
      { worker: 2, isUp: true, requests: 5, busy: 0.9, restarts: 0 },
    ],
  });
  two.end({ signal: 'SIGSEGV' });
  const dead = { worker: 2, isUp: false, requests: 0, busy: undefined, restarts: 1 };
  expect(deciders.live.take().workers?.[1]).toEqual(dead);
  await jest.advanceTimersByTimeAsync(100);
  expect(deciders.live.take().workers?.[1]).toEqual(dead);
  started.at(-1)?.say(HELLO);
  expect(deciders.live.take().workers?.[1]).toEqual({ ...dead, isUp: true });
});

it('drains all workers and kills those that do not end in time', async () => {
  const { deciders, started } = start();
  const [one, two] = twoOf(started);
  for (const worker of [one, two]) worker.say(HELLO);
  let isOver = false;
  void deciders.closePorts(5_000).then(() => (isOver = true));
  expect(one.received.at(-1)).toEqual({ kind: 'drain', withinMs: 5_000 });
  one.end({ code: 0 });
  await jest.advanceTimersByTimeAsync(7_499);
  expect([isOver, two.signals]).toEqual([false, []]);
  await jest.advanceTimersByTimeAsync(1);
  expect([isOver, two.signals]).toEqual([true, ['SIGKILL']]);
  expect(started).toHaveLength(2);
});

it('ends the start with what keeps a worker from listening', async () => {
  const { deciders, started, failures } = start();
  const [one] = twoOf(started);
  one.say(HELLO);
  one.say({ kind: 'fatal', problems: ['cannot listen on 127.0.0.1:1'] });
  await expect(deciders.listen()).rejects.toMatchObject({
    errors: [{ message: 'cannot listen on 127.0.0.1:1' }],
  });
  expect(failures).toEqual([]);
});

it('gives the service up when a worker says later that none can work', () => {
  const { started, failures } = start();
  const [one, two] = twoOf(started);
  for (const worker of [one, two]) {
    worker.say(HELLO);
    worker.say(LISTENING);
  }
  one.say({ kind: 'fatal', problems: ['the store was not reached in 5 minutes'] });
  expect(failures).toMatchObject([{ message: 'the store was not reached in 5 minutes' }]);
});
