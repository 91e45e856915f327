import { createOutageLog } from '../../../src/app/outage-log';
import { createTroubles } from '../../../src/app/troubles';
import type { RuleProblem } from '../../../src/core/rules/parse/problem';
import type { Rules } from '../../../src/core/rules/rules';
import { rulesOf } from '../../support/rules';
import { silentLogger } from '../../support/silent-logger';

const RULES = rulesOf('shop', [{ key: 'user', limit: [2, 'MINUTE'] }]);
const GOOD = {
  ok: true,
  rules: RULES,
  domainCount: 1,
  ruleCount: 1,
  problems: [],
  durationMs: 1,
} as const;
const LINES = { level: 'error', failing: 'calls fail', ended: 'calls work' } as const;

function start() {
  let nowMs = 0;
  const monotonicMs = () => nowMs;
  const rules: { current: Rules | undefined } = { current: undefined };
  const outages = createOutageLog({ logger: silentLogger, monotonicMs });
  const troubles = createTroubles({
    outages,
    rules,
    store: { description: 'Redis at 10.0.0.1:6379', whyAway: () => '10.0.0.1:6379: refused' },
    components: ['start', 'store', 'configuration', 'termination'],
    monotonicMs,
  });
  const load = () => {
    rules.current = RULES;
    troubles.loaded(GOOD);
  };
  const pass = (ms: number) => (nowMs += ms);
  return { troubles, outages, rules, load, pass };
}

function problem(line: number, severity: RuleProblem['severity'] = 'error'): RuleProblem {
  const at = { line, column: 3 };
  return { severity, class: 'bad-unit', file: 'web.yaml', at, message: 'unit "x"' };
}

it('lists nothing once rules are loaded and everything works', () => {
  const { troubles, load } = start();
  load();
  troubles.connected(true);
  troubles.checked({ serving: true, down: [] });
  expect(troubles.list()).toEqual([]);
});

it('says that there are no rules, and what callers get', () => {
  const { troubles, rules } = start();
  expect(troubles.list()).toMatchObject([
    { text: expect.stringContaining('No rules are loaded') as string },
  ]);
  const empty: Rules = { domains: new Map(), limitCount: 0 };
  rules.current = empty;
  troubles.loaded({ ...GOOD, rules: empty });
  expect(troubles.list()).toMatchObject([{ text: expect.stringContaining('no domain') as string }]);
});

it('names the file and the line of a load that failed, three problems at most, until one is good', () => {
  const { troubles, outages, load, pass } = start();
  load();
  const problems = [problem(9, 'warning'), problem(1), problem(2), problem(3), problem(4)];
  troubles.loaded({ ok: false, problems, durationMs: 1 });
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
  outages.worked('rules');
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
  const { troubles, load } = start();
  load();
  troubles.connected(false);
  troubles.checked({ serving: false, down: ['store', 'termination'] });
  expect(troubles.list()).toMatchObject([
    { text: 'Redis at 10.0.0.1:6379 is not connected', details: ['10.0.0.1:6379: refused'] },
    { text: 'The health check fails: component store is down' },
    { text: 'The health check fails: stopping' },
  ]);
  troubles.connected(true);
  troubles.checked({ serving: true, down: [] });
  expect(troubles.list()).toEqual([]);
});

it('cuts long texts', () => {
  const { troubles, outages, load } = start();
  load();
  outages.failed('calls', LINES, { reason: 'x'.repeat(5_000) });
  expect(troubles.list()[0]?.details[0]).toHaveLength(401);
});
