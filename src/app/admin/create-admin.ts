import type { Snapshot } from '../../../streams';
import type { Rules } from '../../core/rules/rules';
import { until } from '../../core/steps';
import { createTokenCheck } from '../../platform/token-file';
import type { Logger } from '../../platform/logger';
import type { Settings } from '../../settings/settings';
import type { AdminOptions, AdminEndpoint } from '../../transport/debug/admin/admin-router';
import type { CheckToken } from '../../transport/debug/admin/admit';
import {
  eitherOf,
  flag,
  get,
  hits,
  limitName,
  numberIn,
  type ParseJsonRequest,
  post,
} from '../../transport/debug/admin/endpoints';
import { parseRequest } from '../../transport/http/json-request';
import type { Registry } from '../../stats/registry';
import type { StoreView } from '../store/backend';
import type { OperatorStore } from '../store/store';
import {
  type AnswerDeps,
  answerChange,
  answerHot,
  answerLimited,
  answerOpen,
  answerRules,
  answerVersion,
  toAnswer,
} from './answers';
import { type CounterAdmin, createCounterAdmin } from './counter-admin';
import { createExplainEndpoint, type ExplainEndpointDeps } from './explain-endpoint';

export interface AdminDeps
  extends Omit<ExplainEndpointDeps, 'bounds' | 'store'>, Omit<AnswerDeps, 'store'> {
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
  const endpoints = endpointsOf({ ...deps, store, bounds }, counters);
  return { options: { endpoints, access: api, bounds }, checkToken };
}

/** Every path of the operator API, with its fields and their ranges, and what answers it (docs/admin.md). */
function endpointsOf(
  deps: ExplainEndpointDeps & AnswerDeps,
  counters: CounterAdmin,
): readonly AdminEndpoint[] {
  const startedSeconds = deps.clock();
  const parse: ParseJsonRequest = (text) => parseRequest(text, deps.bounds);
  const how = { dryRun: flag, force: flag };
  const change = answerChange(counters);
  const page = {
    offset: numberIn(0, Number.MAX_SAFE_INTEGER, 0),
    limit: numberIn(1, 10_000, 1_000),
  };
  const hot = {
    seconds: numberIn(1, 10, 2),
    limit: numberIn(1, 500, 50),
    by: eitherOf('hits', 'over'),
  };
  return [
    createExplainEndpoint(deps),
    { ...get('rules', page, (query) => answerRules(query, deps)), isLarge: true },
    get('hot', hot, (query) => answerHot(query, deps)),
    get('limited', { limit: numberIn(1, 1_000, 100) }, ({ limit }) => answerLimited(limit, deps)),
    get('version', {}, () => answerVersion(startedSeconds, deps)),
    post('counters/read', 'read', {}, parse, function* (request) {
      return toAnswer(yield* until(counters.read(request)));
    }),
    post('counters/reset', 'write', { ...how, open: flag }, parse, change),
    post('counters/set', 'write', { ...how, used: hits, limit: limitName }, parse, change),
    get('counters/open', { limit: numberIn(1, 1_000, 100) }, ({ limit }, query) =>
      answerOpen(counters, query, limit, parse),
    ),
  ];
}
