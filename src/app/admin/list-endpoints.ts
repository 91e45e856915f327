import { setTimeout as delay } from 'node:timers/promises';
import type { RulesVersion } from '../../core/explain/explanation';
import { listRules, type ListedRule } from '../../core/explain/list-rules';
import type { Clock } from '../../core/ports';
import type { Rules } from '../../core/rules/rules';
import type { Steps } from '../../core/steps';
import type { LiveView } from '../../stats/dashboard/create-live-view';
import type { Registry } from '../../stats/registry';
import {
  refusedWith,
  type AdminAnswer,
  type AdminEndpoint,
} from '../../transport/debug/admin/admin-api';
import type { RulesActor } from '../actors/rules';
import type { OperatorStore, StoreView } from '../actors/store';
import { packageVersion } from '../package-version';

export interface ListEndpointsDeps {
  readonly rules: { readonly current: Rules | undefined };
  readonly whyNoRules: { readonly current: string };
  readonly lastLoad: RulesActor['lastLoad'];
  readonly rulesVersion: () => RulesVersion | undefined;
  readonly store: Pick<OperatorStore, 'listOver'> & Pick<StoreView, 'description' | 'whyAway'>;
  /** Processes that decide. */
  readonly workerCount: number;
  readonly live: Pick<LiveView, 'start' | 'stop' | 'hot'>;
  readonly registry: Pick<Registry, 'rules'>;
  readonly clock: Clock;
}

/** `GET /api/v1/rules`, `hot`, `limited` and `version`. */
export function createListEndpoints(deps: ListEndpointsDeps): readonly AdminEndpoint[] {
  const startedSeconds = deps.clock();
  return [
    { ...list('rules', (query) => answerRules(query, deps)), isLarge: true },
    list('hot', (query) => answerHot(query, deps)),
    list('limited', (query) => answerLimited(query, deps)),
    list('version', () => answered(answerVersion(startedSeconds, deps))),
  ];
}

/** Faults of a query are thrown as answers. */
function list(
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
        if (error instanceof Refused) return error.answer;
        throw error;
      }
    },
  };
}

const answered = (body: object): AdminAnswer => ({ status: 200, body });

class Refused extends Error {
  override readonly name = 'Refused';
  readonly answer: AdminAnswer;
  constructor(answer: AdminAnswer) {
    super(String(answer.status));
    this.answer = answer;
  }
}

function readNumber(
  query: URLSearchParams,
  name: string,
  fallback: number,
  [least, most]: readonly [number, number],
): number {
  const text = query.get(name);
  const value = text === null ? fallback : Number(text);
  if (text !== '' && Number.isInteger(value) && value >= least && value <= most) return value;
  const expected = `a whole number from ${String(least)} to ${String(most)}`;
  const error = `${name} is ${JSON.stringify(text)}, expected ${expected}`;
  throw new Refused(refusedWith(400, 'invalid_request', error));
}

function answerRules(query: URLSearchParams, deps: ListEndpointsDeps): AdminAnswer {
  const offset = readNumber(query, 'offset', 0, [0, Number.MAX_SAFE_INTEGER]);
  const most = readNumber(query, 'limit', 1_000, [1, 10_000]);
  const { current } = deps.rules;
  if (current === undefined)
    throw new Refused(refusedWith(503, 'no_rules', deps.whyNoRules.current));
  const head = { version: deps.rulesVersion(), total: current.limitCount, offset, rules: [] };
  const pieces = printRules(head, listRules(current, offset, most), deps);
  return { status: 200, body: undefined, pieces };
}

/** The head with the rules in its last field, which is empty. */
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
    const hits = series?.total('total_hits') ?? 0;
    yield before + JSON.stringify({ ...rule, hits, over: series?.total('over_limit') ?? 0 });
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
    throw new Refused(refusedWith(400, 'invalid_request', error));
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
  if (store.listOver === undefined) {
    const advice =
      'only the local cache (LOCAL_CACHE_SIZE_IN_BYTES) and counters in memory know them, and this process has neither; GET /api/v1/hot?by=over shows what is refused now';
    throw new Refused(refusedWith(409, 'not_known_here', advice));
  }
  const nowSeconds = clock();
  const over = yield* store.listOver(nowSeconds, most);
  const keys = over.map(({ key, limit, windowEndSeconds }) => ({
    key,
    limit,
    resetSeconds: Math.ceil(windowEndSeconds - nowSeconds),
  }));
  return answered({ keys });
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
    // Left out while it is connected.
    storeUnavailable: store.whyAway(),
    workers: workerCount,
  };
}
