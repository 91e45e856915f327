import { explanationText } from '../../core/explain/to-text';
import type { Explanation, RulesVersion } from '../../core/explain/explanation';
import type { Clock, CounterReading, Counters, Increment } from '../../core/ports';
import type { Rules } from '../../core/rules/rules';
import { requestOfTokens } from '../../core/rules/secrets';
import { createDryCounters, readOnly } from '../../counters/dry-counters';
import type { OverLimitCache } from '../../counters/over-limit-cache';
import { withOverLimitCache } from '../../counters/with-over-limit-cache';
import { explainRequest } from '../../decisions/explain';
import type { DecisionOptions } from '../../decisions/decide-batch';
import type { AdminAnswer, AdminEndpoint } from '../../transport/debug/admin/admin-router';
import type { TransportBounds } from '../../transport/bounds';
import { toMalformed } from '../../transport/http/json-endpoint';
import { parseRequest } from '../../transport/http/json-request';
import { toRefusal } from '../../transport/responses';
import { failure } from '../../core/errors';
import type { OperatorStore } from '../store/store';

export interface ExplainEndpointDeps {
  readonly rules: { readonly current: Rules | undefined };
  readonly whyNoRules: { readonly current: string };
  readonly rulesVersion: () => RulesVersion | undefined;
  readonly store: Pick<OperatorStore, 'reader' | 'localCache' | 'leases'>;
  readonly clock: Clock;
  readonly options: DecisionOptions;
  readonly bounds: TransportBounds;
}

/** Descriptors per call. */
const MAX_DESCRIPTORS = 20;

/** `POST /api/v1/explain`: the body is that of `/json`; `?format=text` answers lines for a person. */
export function createExplainEndpoint(deps: ExplainEndpointDeps): AdminEndpoint {
  const { store, clock, options } = deps;
  const bounds = { ...deps.bounds, maxDescriptors: MAX_DESCRIPTORS };
  return {
    method: 'POST',
    path: '/api/v1/explain',
    access: 'read',
    readsText: true,
    *handle({ text, query }) {
      const request = parseRequest(text, bounds);
      if ('kind' in request) return toMalformed(request);
      const rules = deps.rules.current;
      if (rules === undefined) return toRefusal(failure('no_rules', deps.whyNoRules.current));
      const nowSeconds = clock();
      const explanation = yield* explainRequest(
        requestOfTokens(rules.secrets, request),
        {
          rules,
          reader: store.reader,
          dryCounters: (readings) => dryCounters(readings, store),
          knows: (increment: Increment) => cacheOf(store)?.knows(increment, nowSeconds) ?? false,
          leaseOf: (place: Increment) => store.leases?.read(place),
          nowSeconds,
        },
        options,
      );
      if ('kind' in explanation) return toRefusal(explanation);
      return answer(explanation, deps.rulesVersion(), query.get('format') === 'text');
    },
  };
}

/** The service's counters, without side effects. */
function dryCounters(
  readings: ReadonlyMap<string, CounterReading>,
  store: Pick<OperatorStore, 'localCache' | 'leases'>,
): Pick<Counters, 'add'> {
  const counters = createDryCounters(readings);
  const cache = cacheOf(store);
  // Leased hits are spent first.
  const keeps = (one: Increment): boolean => (store.leases?.read(one)?.left ?? 0) === 0;
  return cache === undefined ? counters : withOverLimitCache(counters, readOnly(cache), { keeps });
}

/** The cache of counters that are over their limit. */
function cacheOf({
  localCache,
  leases,
}: Pick<OperatorStore, 'localCache' | 'leases'>): OverLimitCache | undefined {
  return localCache ?? leases?.cache;
}

function answer(
  { descriptors, responseHeaders, ...verdict }: Explanation,
  rules: RulesVersion | undefined,
  asText: boolean,
): AdminAnswer {
  const version = rules !== undefined && { rules };
  const body: Explanation = { ...verdict, ...version, descriptors, responseHeaders };
  return { status: 200, body: asText ? explanationText(body) : body };
}
