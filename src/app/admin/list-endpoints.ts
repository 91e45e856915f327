import { setTimeout as delay } from 'node:timers/promises';
import { listRules, type ListedRule } from '../../core/explain/list-rules';
import type { Steps } from '../../core/steps';
import type { LiveView } from '../../stats/dashboard/create-live-view';
import type { Registry } from '../../stats/registry';
import {
  refusedWith,
  type AdminAnswer,
  type AdminEndpoint,
} from '../../transport/debug/admin/admin-router';
import type { ExplainEndpointDeps } from './explain-endpoint';
import type { RulesActor } from '../rules/rules';
import type { StoreView } from '../store/backend';
import type { OperatorStore } from '../store/store';
import { packageVersion } from '../../platform/package';

export interface ListEndpointsDeps extends Pick<
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

/** `GET /api/v1/rules`, `hot`, `limited` and `version`. */
export function createListEndpoints(deps: ListEndpointsDeps): readonly AdminEndpoint[] {
  const startedSeconds = deps.clock();
  return [
    { ...listEndpoint('rules', (query) => answerRules(query, deps)), isLarge: true },
    listEndpoint('hot', (query) => answerHot(query, deps)),
    listEndpoint('limited', (query) => answerLimited(query, deps)),
    listEndpoint('version', () => answered(answerVersion(startedSeconds, deps))),
  ];
}

const answered = (body: object): AdminAnswer => ({ status: 200, body });

function answerRules(query: URLSearchParams, deps: ListEndpointsDeps): AdminAnswer {
  const offset = readNumber(query, 'offset', 0, [0, Number.MAX_SAFE_INTEGER]);
  const most = readNumber(query, 'limit', 1_000, [1, 10_000]);
  const { current } = deps.rules;
  if (current === undefined)
    throw new RefusedQuery(refusedWith(503, 'no_rules', deps.whyNoRules.current));
  const head = { version: deps.rulesVersion(), total: current.limitCount, offset, rules: [] };
  const pieces = printRules(head, listRules(current, offset, most), deps);
  return { status: 200, body: undefined, pieces };
}

/** The head, with the rules in its last field, which is empty. */
function* printRules(
  head: object,
  rules: Iterable<ListedRule | undefined>,
  { registry }: Pick<ListEndpointsDeps, 'registry'>,
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

function* answerHot(query: URLSearchParams, { live }: ListEndpointsDeps): Steps<AdminAnswer> {
  const seconds = readNumber(query, 'seconds', 2, [1, 10]);
  const most = readNumber(query, 'limit', 50, [1, 500]);
  const by = query.get('by') ?? 'hits';
  if (by !== 'hits' && by !== 'over') {
    const error = `by is ${JSON.stringify(by)}, expected hits or over`;
    throw invalidQuery(error);
  }
  live.start();
  try {
    yield delay(seconds * 1_000, undefined, { ref: false });
    const { hot, hotError } = live.hot(seconds, 500);
    const keys = hot.filter(({ isOver }) => by === 'hits' || isOver).slice(0, most);
    return answered({ seconds, by, maxUndercountPerSecond: hotError, keys });
  } finally {
    live.stop();
  }
}

function* answerLimited(
  query: URLSearchParams,
  { store, clock }: ListEndpointsDeps,
): Steps<AdminAnswer> {
  const most = readNumber(query, 'limit', 100, [1, 1_000]);
  const nowSeconds = clock();
  const list = store.listOver?.(nowSeconds, most) ?? store.listBlocked?.(nowSeconds, most);
  if (list === undefined) {
    const advice =
      'limited keys are known only to the local cache (LOCAL_CACHE_SIZE_IN_BYTES) and to counters in memory, and this process has neither; GET /api/v1/hot?by=over shows what is refused now';
    throw new RefusedQuery(refusedWith(409, 'not_known_here', advice));
  }
  const over = yield* list;
  const keys = over.map(({ key, limit, windowEndSeconds }) => ({
    key,
    limit,
    resetSeconds: Math.ceil(windowEndSeconds - nowSeconds),
  }));
  return answered({ keys, ...(store.listOver === undefined && { only: 'blocked' }) });
}

function answerVersion(
  startedSeconds: number,
  { rulesVersion, lastLoad, store, clock, workerCount }: ListEndpointsDeps,
): object {
  return {
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
  };
}

/** An answer that is thrown, for an invalid query. */
class RefusedQuery extends Error {
  override readonly name = 'RefusedQuery';
  readonly answer: AdminAnswer;
  constructor(answer: AdminAnswer) {
    super(String(answer.status));
    this.answer = answer;
  }
}

/** An endpoint that parses its query; mistakes are thrown as answers. */
export function listEndpoint(
  name: string,
  answerOf: (query: URLSearchParams) => Steps<AdminAnswer> | AdminAnswer,
): AdminEndpoint {
  return {
    method: 'GET',
    path: `/api/v1/${name}`,
    access: 'read',
    *handle({ query }) {
      try {
        const answer = answerOf(query);
        return 'status' in answer ? answer : yield* answer;
      } catch (error) {
        if (error instanceof RefusedQuery) return error.answer;
        throw error;
      }
    },
  };
}

/** A whole number of the query; throws a RefusedQuery for anything else. */
export function readNumber(
  query: URLSearchParams,
  name: string,
  fallback: number,
  [least, most]: readonly [number, number],
): number {
  const text = query.get(name);
  const value = text === null ? fallback : Number(text);
  if (text !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  const expected = `a whole number from ${String(least)} to ${String(most)}`;
  throw invalidQuery(`${name} is ${JSON.stringify(text)}, expected ${expected}`);
}

export function invalidQuery(error: string): RefusedQuery {
  return new RefusedQuery(refusedWith(400, 'invalid_request', error));
}
