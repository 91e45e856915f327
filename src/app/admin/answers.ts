import { setTimeout as delay } from 'node:timers/promises';
import type { Failure } from '../../core/errors';
import { listRules, type ListedRule } from '../../core/explain/list-rules';
import type { DecisionRequest } from '../../core/model';
import { until, type Steps } from '../../core/steps';
import { packageVersion } from '../../platform/package';
import type { LiveView } from '../../stats/dashboard/create-live-view';
import type { Registry } from '../../stats/registry';
import { refusedWith, type AdminAnswer } from '../../transport/debug/admin/admin-router';
import { invalidRequest, type ParseJsonRequest } from '../../transport/debug/admin/endpoints';
import { toRefusal } from '../../transport/responses';
import type { RulesActor } from '../rules/rules';
import type { StoreView } from '../store/backend';
import type { OperatorStore } from '../store/store';
import type { CounterAdmin, CounterChange, ShownCounter } from './counter-admin';
import type { ExplainEndpointDeps } from './explain-endpoint';

export interface AnswerDeps extends Pick<
  ExplainEndpointDeps,
  'rules' | 'whyNoRules' | 'rulesVersion' | 'clock'
> {
  readonly lastLoad: RulesActor['lastLoad'];
  readonly store: Pick<OperatorStore, 'listOver' | 'listBlocked'> &
    Pick<StoreView, 'description' | 'whyAway'>;
  /** Number of processes that decide. */
  readonly workerCount: number;
  readonly live: Pick<LiveView, 'start' | 'stop' | 'hot'>;
  readonly registry: Pick<Registry, 'rules'>;
}

const answered = (body: object): AdminAnswer => ({ status: 200, body });

export function answerRules(
  { offset, limit }: { readonly offset: number; readonly limit: number },
  { rules, whyNoRules, rulesVersion, registry }: AnswerDeps,
): AdminAnswer {
  const { current } = rules;
  if (current === undefined) return refusedWith(503, 'no_rules', whyNoRules.current);
  const head = { version: rulesVersion(), total: current.limitCount, offset, rules: [] };
  const pieces = printRules(head, listRules(current, offset, limit), registry);
  return { status: 200, body: undefined, pieces };
}

/** The head, with the rules in its last field, which is empty. */
function* printRules(
  head: object,
  rules: Iterable<ListedRule | undefined>,
  registry: AnswerDeps['registry'],
): Steps<void, string> {
  let before = JSON.stringify(head).slice(0, -2);
  for (const rule of rules) {
    if (rule === undefined) {
      yield;
      continue;
    }
    const series = registry.rules.peek(rule.metric);
    const hits = series?.totalHits?.value ?? 0;
    const over = series?.overLimit?.value ?? 0;
    yield before + JSON.stringify({ ...rule, hits, over });
    before = ',';
  }
  yield before === ',' ? ']}' : `${before}]}`;
}

interface HotQuery {
  readonly seconds: number;
  readonly limit: number;
  readonly by: 'hits' | 'over';
}

export function* answerHot(
  { seconds, limit, by }: HotQuery,
  { live }: AnswerDeps,
): Steps<AdminAnswer> {
  live.start();
  try {
    yield delay(seconds * 1_000, undefined, { ref: false });
    const { hot, hotError } = live.hot(seconds, 500);
    const keys = hot.filter(({ isOver }) => by === 'hits' || isOver).slice(0, limit);
    return answered({ seconds, by, maxUndercountPerSecond: hotError, keys });
  } finally {
    live.stop();
  }
}

export function* answerLimited(most: number, { store, clock }: AnswerDeps): Steps<AdminAnswer> {
  const nowSeconds = clock();
  const list = store.listOver?.(nowSeconds, most) ?? store.listBlocked?.(nowSeconds, most);
  if (list === undefined) {
    const advice =
      'limited keys are known only to the local cache (LOCAL_CACHE_SIZE_IN_BYTES) and to counters in memory, and this process has neither; GET /api/v1/hot?by=over shows what is refused now';
    return refusedWith(409, 'not_known_here', advice);
  }
  const over = yield* list;
  const keys = over.map(({ key, limit, windowEndSeconds }) => ({
    key,
    limit,
    resetSeconds: Math.ceil(windowEndSeconds - nowSeconds),
  }));
  return answered({ keys, ...(store.listOver === undefined && { only: 'blocked' }) });
}

export function answerVersion(
  startedSeconds: number,
  { rulesVersion, lastLoad, store, clock, workerCount }: AnswerDeps,
): AdminAnswer {
  return answered({
    version: packageVersion(),
    node: process.version,
    startedAt: new Date(startedSeconds * 1_000).toISOString(),
    uptimeSeconds: Math.floor(clock() - startedSeconds),
    rules: rulesVersion(),
    lastLoad: lastLoad(),
    store: store.description,
    // Omitted while it is connected.
    storeUnavailable: store.whyAway(),
    workers: workerCount,
  });
}

export function toAnswer(counters: readonly ShownCounter[] | Failure): AdminAnswer {
  return 'kind' in counters ? toRefusal(counters) : answered({ counters });
}

/** What a change may say beside its request. */
type ChangeFields = Pick<CounterChange, 'dryRun' | 'force'> & Partial<CounterChange>;

export const answerChange = (admin: CounterAdmin) =>
  function* (
    request: DecisionRequest,
    { used, limit, open = false, ...fields }: ChangeFields,
    caller: Pick<CounterChange, 'peer' | 'tokenId'>,
  ): Steps<AdminAnswer> {
    const change = { used, limit, open, ...fields, ...caller };
    const counters = yield* until(admin.change(request, change));
    if (counters === 'not_published') {
      const error =
        'the change cannot be published to the other instances, whose local caches would refuse until the window ends; send "force": true to change the counters anyway';
      return refusedWith(409, 'not_published', error);
    }
    if ('kind' in counters || change.dryRun) return toAnswer(counters);
    // A change that was not made is a failure of the call, even if it changed other counters.
    const failed = counters.filter(({ error }) => error !== undefined).length;
    if (failed === 0) return toAnswer(counters);
    const error = `${String(failed)} of ${String(counters.length)} counters may be unchanged: see the error of each`;
    return { status: 503, body: { error, code: 'store_unavailable', counters } };
  };

/** One counter; `entry` repeats for each entry of its descriptor, in their order. */
export function* answerOpen(
  admin: CounterAdmin,
  query: URLSearchParams,
  most: number,
  parse: ParseJsonRequest,
): Steps<AdminAnswer> {
  const texts = query.getAll('entry');
  // The key ends at the first `=`.
  const wrong = texts.find((text) => text.indexOf('=') < 1);
  if (wrong !== undefined)
    return invalidRequest(`entry is ${JSON.stringify(wrong.slice(0, 256))}, expected key=value`);
  if (texts.length === 0) return invalidRequest('entry is missing, expected entry=key=value');
  const entries = texts.map((text) => {
    const at = text.indexOf('=');
    return { key: text.slice(0, at), value: text.slice(at + 1) };
  });
  const domain = query.get('domain') ?? '';
  const request = parse(JSON.stringify({ domain, descriptors: [{ entries }] }));
  if ('kind' in request) return invalidRequest(request.message);
  const answer = yield* until(admin.open(request, most));
  return 'kind' in answer ? toRefusal(answer) : answered(answer);
}
