import { tap } from 'rxjs';
import type { Answer, Responder } from '../../core/ports';
import { DOMAIN, toVerdict, type Decisions } from '../../identity/limits/decisions';
import { monotonicMs, systemClock } from '../../platform/clock';
import type { Logger } from '../../platform/logger';
import type { Settings } from '../../settings/settings';
import { createRegistry } from '../../stats/registry';
import { createRequestSource } from '../../transport/request-source';
import { runAll } from '../actor';
import { createDecisionsActor } from '../compose/decisions';
import { createRulesActor } from '../rules/rules';
import { chooseCounters } from '../store/store';
import { createOutageLog } from '../outage-log';
import { openTimeZones } from '../rules/open-time-zones';
import { ruleLoads, ruleSourceKind } from '../rules/rule-source';
import { createSecretKeys } from '../secrets/create-secret-keys';
import { createWaitingRequests } from './waiting-requests';

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
  const outages = createOutageLog(deps);
  const zones = openTimeZones(settings, outages);
  const store = chooseCounters(settings, { ...deps, statistics: registry });
  const secretKeys = createSecretKeys(settings.secrets.keysFile, { ...deps, statistics: registry });
  const loading = createRulesActor(
    ruleLoads(settings, { ...deps, outages, tokens: secretKeys.tokens, zones }),
    { statistics: registry, logger, outages, clock: systemClock },
    { startsWithoutRules: false, source: ruleSourceKind(settings) },
  );
  const pendingRequests = createRequestSource();
  const waiting = createWaitingRequests(settings.identity.rateLimitTimeoutMs);
  const decisions = createDecisionsActor(pendingRequests.requests$, settings, {
    ...deps,
    rules: loading.rules,
    counters: store.counters,
  });
  let announce: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (announce = resolve));
  const done = runAll([
    outages,
    { run$: loading.run$.pipe(tap(announce)) },
    secretKeys,
    store,
    decisions,
  ]);

  const responder: Responder = {
    answer(callId, answer) {
      const pending = waiting.take(callId);
      if (answer.kind === 'failure') pending?.reject(new Error(answer.message));
      else pending?.resolve(verdictOf(answer));
      return pending !== undefined;
    },
  };

  return {
    done,
    ready,
    ask: (entries) =>
      new Promise((resolve, reject) => {
        const callId = waiting.put({ resolve, reject });
        const descriptor = { entries, limit: undefined, hits: undefined, isNegativeHits: false };
        const request = { domain: DOMAIN, descriptors: [descriptor], hitsAddend: 0 };
        pendingRequests.ask({ request, responder, callId });
      }),
    async close() {
      pendingRequests.close();
      await decisions.close();
      await store.counters.close();
      loading.close();
      secretKeys.close();
      outages.close();
      await done;
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
