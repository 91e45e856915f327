import { createWindowTable } from '../../src/core/planning/windows';
import { planBatch } from '../../src/core/planning/plan';
import { answerFor } from '../../src/decisions/answer';
import { createBatchContext } from '../../src/decisions/batch';
import type { DecisionRequest } from '../../src/core/model';
import type { Rules } from '../../src/core/rules/rules';
import { PLAIN_DECISIONS } from '../support/decider';
import { requestSource, someRules } from './load';
import { measure } from './measure';

const BURST = 100;
const options = { ...PLAIN_DECISIONS, ttlJitterSeconds: 300 };

/** match + plan + verdict, without any store: µs per decision with two descriptors. */
export function benchCore(rules: number, routes: number): { name: string; micros: number } {
  const compiled = someRules(rules);
  const source = requestSource(10_000, routes);
  const windowsAt = createWindowTable();
  const micros = measure(
    BURST,
    () => source(BURST),
    (burst) => {
      decide(compiled, burst, windowsAt(1_795_240_000));
    },
  );
  return { name: `core, ${String(rules)} rules, ${String(routes)} of their routes in use`, micros };
}

function decide(
  rules: Rules,
  requests: readonly DecisionRequest[],
  windows: ReturnType<ReturnType<typeof createWindowTable>>,
): void {
  const plan = planBatch(rules, requests, windows, options, Math.random);
  const after = plan.increments.map(() => 7);
  const reply = { after, held: undefined, failures: undefined };
  const batch = createBatchContext(plan, { reply, outage: undefined }, windows, options);
  let at = 0;
  for (const pending of requests.map(toPending)) {
    const end = at + pending.request.descriptors.length;
    answerFor(pending, batch, at, end);
    at = end;
  }
}

const NOBODY = { answer: () => true };
const toPending = (request: DecisionRequest) => ({ request, responder: NOBODY, callId: 0 });
