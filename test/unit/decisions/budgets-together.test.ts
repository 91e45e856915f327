import { compileRules } from '../../../src/core/rules/compile';
import { createMemoryCounters } from '../../../src/counters/memory/create-memory-counters';
import type { DecisionOptions } from '../../../src/decisions/decide-batch';
import { budgetOf, inFlight } from '../../support/budgets';
import { createDecider } from '../../support/decider';
import { descriptor, request } from '../../support/requests';
import { definitionsOf, type RuleSketch } from '../../support/rules';

const START = 1_795_240_800;

const sketches: readonly RuleSketch[] = [
  { key: 'user', limit: [2, 'MINUTE'] },
  { key: 'team', limit: [3, 'MINUTE'] },
  { key: 'charged', limit: { unit: 'MINUTE', requestsPerUnit: 1, chargeDenied: true } },
  { key: 'shadow', limit: [1, 'MINUTE'], shadowMode: true },
  {
    key: 'model',
    ...budgetOf([{ unit: 'MINUTE', requestsPerUnit: 10 }, inFlight(1)], { reserve: {} }),
  },
  {
    key: 'blocking',
    ...budgetOf([{ unit: 'MINUTE', requestsPerUnit: 1 }], { block: { after: 2, forMs: 30_000 } }),
  },
];

function setUp(options: Partial<DecisionOptions> = {}) {
  const clock = () => START;
  const counters = createMemoryCounters({ clock });
  const current = compileRules([
    { domain: 'd', rules: definitionsOf(sketches), isChargedTogether: true },
    { domain: 'apart', rules: definitionsOf(sketches) },
  ]);
  const decide = createDecider({ rules: { current }, counters, clock }, options);
  const ask = async (texts: readonly (string | readonly string[])[], domain = 'd') => {
    const { answers } = await decide(
      request(
        domain,
        texts.map((one) => descriptor(one)),
      ),
    );
    const [answer] = answers;
    if (answer?.kind !== 'decision') throw new Error(answer?.message);
    const left = answer.statuses.map(
      ({ code, limitRemaining }) => `${code} ${String(limitRemaining)}`,
    );
    return [answer.overallCode, ...left].join(', ');
  };
  return { ask, decide };
}

it('charges no counter of a request that one of them refuses, not even the one that does', async () => {
  const { ask } = setUp();
  expect(await ask(['user=a', 'team=t'])).toBe('OK, OK 1, OK 2');
  expect(await ask(['user=a', 'team=t'])).toBe('OK, OK 0, OK 1');
  expect(await ask(['user=a', 'team=t'])).toBe('OVER_LIMIT, OVER_LIMIT 0, OK 1');
  expect(await ask(['user=b', 'team=t'])).toBe('OK, OK 1, OK 0');
});

it('holds and takes nothing for a request that is refused, and settles all the same', async () => {
  const { ask } = setUp();
  expect(await ask([['model=m', 'reserve=a'], 'user=a'])).toBe('OK, OK 0, OK 1');
  expect(await ask([['model=m', 'reserve=b'], 'user=b'])).toBe('OVER_LIMIT, OVER_LIMIT 0, OK 2');
  await ask(['user=a']);
  expect(await ask([['model=m', 'settle=a'], 'user=a'])).toBe('OVER_LIMIT, OK 9, OVER_LIMIT 0');
  expect(await ask([['model=m', 'reserve=c'], 'user=b'])).toBe('OK, OK 0, OK 1');
});

it('counts no refusal of another rule for a block', async () => {
  const { ask } = setUp();
  await ask(['user=a']);
  await ask(['user=a']);
  for (let time = 0; time < 3; time += 1)
    expect(await ask(['blocking=b', 'user=a'])).toBe('OVER_LIMIT, OK 1, OVER_LIMIT 0');
  expect(await ask(['blocking=b'])).toBe('OK, OK 0');
});

it('holds nobody back for a rule in shadow mode, and charges a rule that says so', async () => {
  const { ask } = setUp();
  await ask(['shadow=s']);
  expect(await ask(['shadow=s', 'user=a'])).toBe('OK, OK 0, OK 1');
  await ask(['charged=c']);
  expect(await ask(['charged=c', 'user=a'])).toBe('OVER_LIMIT, OVER_LIMIT 0, OK 1');
});

it('leaves requests of other domains in the same batch apart, and all under SHADOW_MODE', async () => {
  const { decide, ask } = setUp();
  await ask(['user=a', 'user=a'], 'apart');
  await decide(
    request('apart', ['user=a', 'team=t']),
    request('d', ['user=x', 'team=t']),
    request('apart', ['user=a', 'team=t']),
  );
  expect(await ask(['team=t'], 'apart')).toBe('OK, OK 0');
  expect(await ask(['team=t'])).toBe('OK, OK 1');
  const shadow = setUp({ shadowMode: true });
  for (let time = 0; time < 3; time += 1) await shadow.ask(['user=a', 'team=t']);
  expect(await shadow.ask(['team=t'])).toBe('OK, OVER_LIMIT 0');
});

it('tells in dynamic metadata which of several limits refused', async () => {
  const { decide } = setUp({ dynamicMetadata: true });
  const { answers } = await decide(
    request('apart', [descriptor(['model=m', 'reserve=a'], { hits: 11 })]),
  );
  expect(answers[0]).toMatchObject({
    dynamicMetadata: { limitedBy: 'apart.model', limitedByLimit: 'minute' },
  });
});
