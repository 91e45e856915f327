import type { ServiceHealth } from '../../../../src/app/observe/health';
import { Subscription } from 'rxjs';
import { createSnapshot } from '../../../../streams';
import { createOutageLog } from '../../../../src/app/outage-log';
import { createTroubles } from '../../../../src/app/observe/troubles';
import type { RuleProblem } from '../../../../src/fields/problem';
import type { Rules } from '../../../../src/core/rules/rules';
import { rulesOf } from '../../../support/rules';
import { silentLogger } from '../../../support/silent-logger';

const RULES = rulesOf('shop', [{ key: 'user', limit: [2, 'MINUTE'] }]);
const LINES = { level: 'error', failing: 'calls fail', ended: 'calls work' } as const;

let subscription = Subscription.EMPTY;
afterEach(() => {
  subscription.unsubscribe();
});

function start() {
  let nowMs = 0;
  const monotonicMs = () => nowMs;
  const rules = createSnapshot<Rules | undefined>(undefined);
  const connected = createSnapshot(true);
  const status = createSnapshot<ServiceHealth>({ serving: true, down: [], ignored: [] });
  let problems: readonly RuleProblem[] = [];
  const misplaced = new Map<string, string>();
  const outages = createOutageLog({ logger: silentLogger, monotonicMs });
  const troubles = createTroubles({
    openOutages: outages.open,
    rules: { rules, problems: () => ({ problems }) },
    store: {
      description: 'Redis at 10.0.0.1:6379',
      whyAway: () => '10.0.0.1:6379: refused',
      misplaced: () => misplaced,
    },
    health: { status, connected, components: ['start', 'store', 'configuration', 'termination'] },
    monotonicMs,
  });
  subscription = troubles.run$.subscribe();
  const load = () => {
    problems = [];
    rules.set(RULES);
  };
  const refuse = (errors: readonly RuleProblem[]) => (problems = errors);
  const check = (...down: readonly string[]) => {
    status.set({ serving: down.length === 0, down, ignored: [] });
  };
  const pass = (ms: number) => (nowMs += ms);
  return { troubles, outages, misplaced, rules, load, refuse, connected, check, pass };
}

function problem(line: number, severity: RuleProblem['severity'] = 'error'): RuleProblem {
  const at = { line, column: 3 };
  return { severity, class: 'bad-unit', file: 'web.yaml', at, message: 'unit "x"' };
}

it('lists nothing once rules are loaded and everything works', () => {
  const { troubles, load } = start();
  load();
  expect(troubles.list()).toEqual([]);
});

it('says that there are no rules, and what callers get', () => {
  const { troubles, rules } = start();
  expect(troubles.list()).toMatchObject([
    { text: expect.stringContaining('No rules are loaded') as string },
  ]);
  const empty: Rules = {
    domains: new Map(),
    limitCount: 0,
    hasLimitsFrom: false,
    hasTogether: false,
    hasBudgets: false,
    places: new Map(),
  };
  rules.set(empty);
  expect(troubles.list()).toMatchObject([{ text: expect.stringContaining('no domain') as string }]);
});

it('names the file and the line of a load that failed, three problems at most, until one is good', () => {
  const { troubles, outages, load, refuse, pass } = start();
  load();
  refuse([problem(1), problem(2), problem(3), problem(4)]);
  outages.failed('rules', { ...LINES, failing: 'the rules were not loaded' }, {});
  pass(7_000);
  expect(troubles.list()).toEqual([
    {
      name: 'rules',
      text: 'The rules were not loaded',
      details: [
        'web.yaml:1:3: unit "x"',
        'web.yaml:2:3: unit "x"',
        'web.yaml:3:3: unit "x"',
        'and 1 more, see the log',
      ],
      lastedMs: 7_000,
    },
  ]);
  load();
  outages.succeeded('rules');
  pass(2_000);
  expect(troubles.list()).toEqual([]);
});

it('says why calls fail, naming the store once', () => {
  const { troubles, outages, load } = start();
  load();
  const store = 'Redis at 10.0.0.1:6379';
  outages.failed('calls', LINES, { store, reason: '10.0.0.1:6379: refused' });
  outages.failed('counters', LINES, { code: 'x', reason: 'WRONGTYPE' });
  expect(troubles.list().map(({ details }) => details)).toEqual([
    ['Redis at 10.0.0.1:6379: refused'],
    ['WRONGTYPE'],
  ]);
});

it('names a store that is not connected and each component of health that is down', () => {
  const { troubles, load, connected, check } = start();
  load();
  connected.set(false);
  check('store', 'termination');
  expect(troubles.list()).toMatchObject([
    { text: 'Redis at 10.0.0.1:6379 is not connected', details: ['10.0.0.1:6379: refused'] },
    { text: 'The health check fails: component store is down' },
    { text: 'The health check fails: stopping' },
  ]);
  connected.set(true);
  check();
  expect(troubles.list()).toEqual([]);
});

it('cuts long texts', () => {
  const { troubles, outages, load } = start();
  load();
  outages.failed('calls', LINES, { reason: 'x'.repeat(5_000) });
  expect(troubles.list()[0]?.details[0]).toHaveLength(401);
});

it('says what mends a store of another kind than the settings name, until it is none', () => {
  const { troubles, load, misplaced, connected } = start();
  load();
  misplaced.set('store', 'it is one node of a cluster: set KVSTORE_TYPE=cluster');
  expect(troubles.list()).toMatchObject([
    {
      name: 'kind of store',
      text: 'Redis at 10.0.0.1:6379 is not the kind of store that the settings name',
      details: ['store: it is one node of a cluster: set KVSTORE_TYPE=cluster'],
    },
  ]);
  connected.set(false);
  expect(troubles.list()).toMatchObject([{ name: 'connection' }]);
  connected.set(true);
  misplaced.clear();
  expect(troubles.list()).toEqual([]);
});
