import type { Answer } from '../../../src/core/ports';
import { descriptor, request } from '../requests';
import { SCENARIO_START } from '../scenario/read-scenarios';
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
    answered.push(`${line} -> ${shown(answer)}`);
  }
  expect(answered).toEqual(expected);
}

function shown(answer: Answer | undefined): string {
  if (answer?.kind !== 'decision') return answer?.message ?? 'no answer';
  const [status] = answer.statuses;
  return `${status?.code === 'OVER_LIMIT' ? 'OVER' : 'OK'} ${String(status?.limitRemaining)}`;
}

function hitsOf({ hits }: Ask) {
  return hits === undefined ? {} : { hits: Math.abs(hits), isNegativeHits: hits < 0 };
}
