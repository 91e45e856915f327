import { createTokenCheck } from '../../platform/token-file';
import type { Logger } from '../../platform/logger/logger';
import type { Settings } from '../../settings/settings';
import type { AdminEndpoint } from '../../transport/debug/admin/admin-api';
import { createAdminRouter, type AdminRouter } from '../../transport/debug/admin/admin-router';
import type { CheckToken } from '../../transport/debug/admin/admit';
import { createExplainEndpoint, type ExplainEndpointDeps } from './explain-endpoint';
import { createListEndpoints, type ListEndpointsDeps } from './list-endpoints';

export type AdminDeps = Omit<ExplainEndpointDeps, 'bounds' | 'store'> &
  ListEndpointsDeps & {
    readonly store: ExplainEndpointDeps['store'] & ListEndpointsDeps['store'];
    readonly monotonicMs: () => number;
    readonly logger: Logger;
  };

/** The operator API, as the settings allow it. */
export interface Admin {
  /** Undefined: ADMIN_API=off. */
  readonly router: AdminRouter | undefined;
  /** Undefined: no token is asked for. */
  readonly checkToken: CheckToken | undefined;
}

/** Throws when ADMIN_TOKEN_FILE cannot be read. */
export function createAdmin({ admin, bounds }: Settings, deps: AdminDeps): Admin {
  const { api, tokenFile } = admin;
  const checkToken = tokenFile === undefined ? undefined : createTokenCheck(tokenFile, deps);
  if (api === 'off') return { router: undefined, checkToken };
  const endpoints: readonly AdminEndpoint[] = [
    createExplainEndpoint({ ...deps, bounds }),
    ...createListEndpoints(deps),
  ];
  const { monotonicMs } = deps;
  return { router: createAdminRouter({ endpoints, access: api, bounds, monotonicMs }), checkToken };
}
