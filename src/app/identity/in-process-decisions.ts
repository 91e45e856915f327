import { tap } from 'rxjs';
import type { Answer, Responder } from '../../core/ports';
import {
  DOMAIN,
  toVerdict,
  type Decisions,
  type LimitVerdict,
} from '../../identity/limits/decisions';
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
import { openTimeZones } from '../rules/time-zones';
import { ruleLoads, ruleSourceKind } from '../rules/rule-source';
import { createSecretKeys } from '../secrets/create-secret-keys';

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
    ruleLoads(settings, {
      ...{ ...deps, statistics: registry, outages },
      ...{ tokens: secretKeys.tokens, zones },
    }),
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

interface WaitingRequest {
  resolve(verdict: LimitVerdict): void;
  reject(error: Error): void;
}

/** Pending requests. All have the same time-out, so one timer for the oldest suffices. */
export function createWaitingRequests(timeoutMs: number) {
  const waiting = new Map<number, { readonly pending: WaitingRequest; readonly sinceMs: number }>();
  let lastCallId = 0;
  let isTimed = false;

  const check = (): void => {
    isTimed = false;
    for (const [callId, { pending, sinceMs }] of waiting) {
      const leftMs = sinceMs + timeoutMs - monotonicMs();
      if (leftMs > 0) {
        lookIn(leftMs);
        return;
      }
      waiting.delete(callId);
      pending.reject(new Error(`no decision within ${String(timeoutMs)} ms`));
    }
  };
  const lookIn = (milliseconds: number): void => {
    isTimed = true;
    setTimeout(check, Math.ceil(milliseconds)).unref();
  };

  return {
    /** Returns its call id. */
    put(pending: WaitingRequest) {
      const callId = ++lastCallId;
      waiting.set(callId, { pending, sinceMs: monotonicMs() });
      if (!isTimed) lookIn(timeoutMs);
      return callId;
    },
    /** Undefined: it has timed out and was rejected. */
    take(callId: number): WaitingRequest | undefined {
      const found = waiting.get(callId);
      waiting.delete(callId);
      return found?.pending;
    },
  };
}
