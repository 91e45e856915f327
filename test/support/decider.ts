import type { Decision, DecisionRequest } from '../../src/core/model';
import type { Answer } from '../../src/core/ports';
import type { Rules } from '../../src/core/rules/rules';
import {
  createDecideBatch,
  type DecisionDeps,
  type DecisionOptions,
} from '../../src/decisions/decide-batch';
import { recordingResponder } from './recording-responder';

/** Nothing beyond codes and counts: no prefix, no jitter, no headers. */
export const PLAIN_DECISIONS: DecisionOptions = {
  keyPrefix: '',
  ttlJitterSeconds: 0,
  holdBack: false,
  nearLimitRatio: 0.8,
  quotaMode: false,
  shadowMode: false,
  headers: undefined,
  dynamicMetadata: false,
};

export interface DeciderDeps extends Partial<DecisionDeps> {
  readonly rules: { readonly current: Rules | undefined };
  readonly counters: DecisionDeps['counters'];
  readonly clock: DecisionDeps['clock'];
}

/** Decides one batch: its answers in the order of its requests, and what statistics count. A fault of ours is thrown. */
export function createDecider(deps: DeciderDeps, options: Partial<DecisionOptions> = {}) {
  const decideBatch = createDecideBatch(
    {
      random: () => 0,
      onFault: (error) => {
        throw error;
      },
      ...deps,
    },
    { ...PLAIN_DECISIONS, ...options },
  );
  return async (...requests: readonly DecisionRequest[]) => {
    const responder = recordingResponder();
    const batchStats = await decideBatch(
      requests.map((request, callId) => ({ request, responder, callId })),
    );
    return { answers: requests.map((_, callId) => responder.answers.get(callId)), batchStats };
  };
}

/** An answer that has to be a decision. */
export function decisionOf(answer: Answer | undefined): Decision {
  if (answer?.kind === 'decision') return answer;
  throw new Error(`expected a decision, not ${JSON.stringify(answer)}`);
}
