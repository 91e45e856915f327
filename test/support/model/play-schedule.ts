import { descriptor, request } from '../requests';
import { SCENARIO_START } from '../scenario/play-scenario';
import type { Setup } from '../scenario/stages';
import { createRule, type Ask } from './rule';
import { toRuleFile, type Schedule } from './schedules';

/** Plays a schedule on a store and on the model, which have to answer the same, step by step. */
export async function playSchedule({ rule, steps }: Schedule, setup: Setup): Promise<void> {
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
