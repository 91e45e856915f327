import { lastValueFrom, map, merge } from 'rxjs';
import { batchedQuestions, createSnapshot, createStopSignal, turnWindow } from '../../../streams';
import type { Answer, Asker } from '../../core/ports';
import type { Rules } from '../../core/rules/rules';
import { createDecideBatch } from '../../decisions/decide-batch';
import { DOMAIN, toVerdict, type Decisions } from '../../identity/limits/decisions';
import { monotonicMs, systemClock } from '../../platform/clock';
import type { Logger } from '../../platform/logger/logger';
import type { Settings } from '../../settings/settings';
import { createRegistry } from '../../stats/registry';
import { createQuestionSource } from '../../transport/question-source';
import { chooseCounters } from '../choose-counters';
import { gatheringMs } from '../gathering-window';
import { toDecisionOptions } from '../decision-options';
import { followRules } from '../follow-rules';
import { createOutageLog } from '../outage-log';
import { ruleLoads } from '../rule-source';
import { createWaitingQuestions } from './waiting-questions';

/** Questions of one batch; the identity service never has more in one turn. */
const MAX_BATCH = 4_096;

export interface InProcessDecisions extends Decisions {
  /** Settles when all of it has ended after `close`; rejects when a part of it gave up. */
  readonly done: Promise<unknown>;
  /** Settles when rules were loaded or refused for the first time. */
  readonly ready: Promise<void>;
}

/** The decision service inside the identity service: the same rules, the same counters, no network. */
export function createInProcessDecisions(settings: Settings, logger: Logger): InProcessDecisions {
  const registry = createRegistry();
  const deps = { clock: systemClock, monotonicMs, random: Math.random, logger };
  const store = chooseCounters(settings, { ...deps, statistics: registry });
  const rules = createSnapshot<Rules | undefined>(undefined);
  const stopSignal = createStopSignal();
  const questions = createQuestionSource();
  const waiting = createWaitingQuestions(settings.identity.rateLimitTimeoutMs);

  const decideBatch = createDecideBatch(
    {
      ...deps,
      rules,
      counters: store.counters,
      onFault: (error) => {
        logger.error('a batch of decisions failed', { error });
      },
    },
    toDecisionOptions(settings),
  );
  const decided = lastValueFrom(
    questions.questions$.pipe(
      batchedQuestions({
        until: turnWindow(gatheringMs(settings), monotonicMs),
        maxSize: MAX_BATCH,
        answer: decideBatch,
      }),
    ),
    { defaultValue: undefined },
  );
  let announce: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (announce = resolve));
  const outages = createOutageLog(deps);
  const followed = { rules, statistics: registry, logger, outages };
  const rules$ = followRules(ruleLoads(settings, { ...deps, outages }), followed).pipe(
    map(announce),
    stopSignal.until(),
  );
  const rest = lastValueFrom(merge(outages.run$, rules$, store.run$), { defaultValue: undefined });

  const asker: Asker = {
    answer(ticket, answer) {
      const question = waiting.take(ticket);
      if (answer.kind === 'failure') question?.reject(new Error(answer.message));
      else question?.resolve(verdictOf(answer));
    },
  };

  return {
    done: Promise.all([decided, rest]),
    ready,
    ask: (entries) =>
      new Promise((resolve, reject) => {
        const ticket = waiting.put({ resolve, reject });
        const descriptor = { entries, limit: undefined, hits: undefined, isNegativeHits: false };
        const request = { domain: DOMAIN, descriptors: [descriptor], hitsAddend: 0 };
        questions.ask({ request, asker, ticket });
      }),
    async close() {
      questions.close();
      await decided;
      await store.counters.close();
      stopSignal.stop();
      outages.close();
      await rest;
    },
  };
}

function verdictOf({ overallCode, statuses }: Exclude<Answer, { kind: 'failure' }>) {
  const read = statuses.map(({ code, currentLimit, secondsUntilReset }) => ({
    isOver: code === 'OVER_LIMIT',
    limit: currentLimit?.requestsPerUnit,
    resetSeconds: secondsUntilReset,
  }));
  return toVerdict(overallCode === 'OVER_LIMIT', read);
}
