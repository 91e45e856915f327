import fc from 'fast-check';
import { describeWithStores } from '../support/near-stores';
import { createRule, type Ask } from '../support/model/rule';
import { schedules, toRuleFile, type Schedule } from '../support/model/schedules';
import { SCENARIO_START } from '../support/scenario/play-scenario';
import { SETUPS, type Setup } from '../support/scenario/stages';
import { descriptor, request } from '../support/requests';

/** What the model and a store answer, step by step. */
async function play({ rule, steps }: Schedule, setup: Setup) {
  const stage = await setup.open({
    title: '',
    rules: toRuleFile(rule),
    settings: {},
    setups: [],
    steps: [],
  });
  const models = new Map<string, ReturnType<typeof createRule>>();
  const expected: string[] = [];
  const answered: string[] = [];
  let nowMs = SCENARIO_START * 1_000;
  for (const { afterMs, value, ask } of steps) {
    nowMs += afterMs;
    stage.setTime(nowMs / 1_000);
    const model = models.get(value) ?? createRule(rule);
    models.set(value, model);
    const words = [`k=${value}`, ...(ask.kind === 'hits' ? [] : [`${ask.kind}=${ask.id}`])];
    const line = `${String(nowMs / 1_000 - SCENARIO_START)} ${words.join(' ')} ${String(ask.hits)}`;
    const { code, remaining } = model.ask(ask, nowMs);
    expected.push(`${line} -> ${code} ${String(remaining)}`);
    const [answer] = await stage.decide([request('d', [descriptor(words, hitsOf(ask))])]);
    const told = answer?.kind === 'decision' ? answer.statuses[0] : undefined;
    const shown = told?.code === 'OVER_LIMIT' ? 'OVER' : told?.code;
    answered.push(`${line} -> ${shown ?? 'error'} ${String(told?.limitRemaining)}`);
  }
  expect(answered).toEqual(expected);
}

function hitsOf({ hits }: Ask) {
  return hits === undefined ? {} : { hits: Math.abs(hits), isNegativeHits: hits < 0 };
}

const RUNS = 150;

it('counts in memory as the pages promise', async () => {
  const setup = SETUPS.memory();
  await fc.assert(
    fc.asyncProperty(schedules, (schedule) => play(schedule, setup)),
    { numRuns: RUNS },
  );
});

describeWithStores.each(['redis', 'two instances', 'leases'] as const)('with %s', (name) => {
  it('counts as the pages promise', async () => {
    const setup = await SETUPS[name]();
    await fc.assert(
      fc.asyncProperty(schedules, (schedule) => play(schedule, setup)),
      { numRuns: RUNS },
    );
    await setup.close();
  });
});
