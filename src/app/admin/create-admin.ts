import type { Snapshot } from '../../../streams';
import type { Rules } from '../../core/rules/rules';
import { createTokenCheck } from '../../platform/token-file';
import type { Logger } from '../../platform/logger';
import type { Settings } from '../../settings/settings';
import type {
  AdminOptions,
  AdminEndpoint,
  AdminAnswer,
} from '../../transport/debug/admin/admin-router';
import type { CheckToken } from '../../transport/debug/admin/admit';
import {
  counterEndpoints,
  type ParseJsonRequest,
  type CounterAdmin,
} from '../../transport/debug/admin/counter-endpoints';
import { parseRequest } from '../../transport/http/json/parse-request';
import type { Registry } from '../../stats/registry';
import type { StoreView } from '../store/backend';
import type { OperatorStore } from '../store/store';
import { createCounterAdmin } from './counter-admin';
import { createExplainEndpoint, type ExplainEndpointDeps } from './explain-endpoint';
import {
  createListEndpoints,
  type ListEndpointsDeps,
  invalidQuery,
  listEndpoint,
  readNumber,
} from './list-endpoints';
import { until, type Steps } from '../../core/steps';
import { toRefusal } from '../../transport/responses';

export interface AdminDeps
  extends Omit<ExplainEndpointDeps, 'bounds' | 'store'>, Omit<ListEndpointsDeps, 'store'> {
  readonly rules: Snapshot<Rules | undefined>;
  /** Undefined: ADMIN_API=off. */
  readonly store: (OperatorStore & Pick<StoreView, 'description' | 'whyAway'>) | undefined;
  readonly registry: Registry;
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}

/** The operator API, as the settings allow. */
export interface Admin {
  /** Undefined: ADMIN_API=off. */
  readonly options: AdminOptions | undefined;
  /** Undefined: no token is required. */
  readonly checkToken: CheckToken | undefined;
}

/** Throws when ADMIN_TOKEN_FILE cannot be read. */
export function createAdmin(settings: Settings, deps: AdminDeps): Admin {
  const { admin, bounds } = settings;
  const { api, tokenFile } = admin;
  const checkToken = tokenFile === undefined ? undefined : createTokenCheck(tokenFile, deps);
  const { store } = deps;
  if (api === 'off' || store === undefined) return { options: undefined, checkToken };
  const counters = createCounterAdmin(
    { ...deps, store, statistics: deps.registry },
    {
      keyPrefix: deps.options.keyPrefix,
      limitsFrom: deps.options.limitsFrom,
      isShared: settings.store !== undefined || settings.memstore !== undefined,
    },
  );
  const parse: ParseJsonRequest = (text) => parseRequest(text, bounds);
  const endpoints: readonly AdminEndpoint[] = [
    createExplainEndpoint({ ...deps, store, bounds }),
    ...createListEndpoints({ ...deps, store }),
    ...counterEndpoints(counters, parse),
    createOpenEndpoint(counters, parse),
  ];
  return { options: { endpoints, access: api, bounds }, checkToken };
}

/** IDs per answer. */
const MAX_IDS = 1_000;

/**
 * `GET /api/v1/counters/open?domain=llm&entry=user=ann`: the open reservations of one counter (docs/admin.md); `entry`
 * repeats for each entry of its descriptor, in their order.
 */
export function createOpenEndpoint(
  { open }: Pick<CounterAdmin, 'open'>,
  parse: ParseJsonRequest,
): AdminEndpoint {
  return listEndpoint('counters/open', function* (query): Steps<AdminAnswer> {
    const most = readNumber(query, 'limit', 100, [1, MAX_IDS]);
    const entries = query.getAll('entry').map(toEntry);
    if (entries.length === 0) throw invalidQuery('entry is missing, expected entry=key=value');
    const domain = query.get('domain') ?? '';
    const request = parse(JSON.stringify({ domain, descriptors: [{ entries }] }));
    if ('kind' in request) throw invalidQuery(request.message);
    const answer = yield* until(open(request, most));
    return 'kind' in answer ? toRefusal(answer) : { status: 200, body: answer };
  });
}

/** The key ends at the first `=`. */
function toEntry(text: string): { readonly key: string; readonly value: string } {
  const at = text.indexOf('=');
  if (at > 0) return { key: text.slice(0, at), value: text.slice(at + 1) };
  throw invalidQuery(`entry is ${JSON.stringify(text.slice(0, 256))}, expected key=value`);
}
