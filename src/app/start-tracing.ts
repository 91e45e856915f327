import { randomUUID } from 'node:crypto';
import type { Settings } from '../settings/settings';
import type * as CreateTracing from '../tracing/create-tracing';
import type { Tracing, TracingDeps } from '../tracing/create-tracing';
import { packageVersion } from './package-version';

const SYSTEM_OF_BACKEND = {
  kvstore: { 'db.system.name': 'redis' },
  memstore: { 'db.system.name': 'memcached' },
  memory: {},
} as const;

/** What the settings ask to be traced; undefined when nothing is, and then nothing of it is loaded. */
export function startTracing(
  { tracing, backend }: Settings,
  deps: TracingDeps,
): Tracing | undefined {
  if (tracing === undefined) return undefined;
  const { resourceAttributes, serviceInstanceId = randomUUID(), ...rest } = tracing;
  return loadTracing().createTracing(deps, {
    ...rest,
    resourceAttributes: {
      'service.version': packageVersion(),
      ...resourceAttributes,
      'service.instance.id': serviceInstanceId,
    },
    store: SYSTEM_OF_BACKEND[backend],
  });
}

/** Loaded only when it is used: start-up time. */
function loadTracing(): typeof CreateTracing {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- late on purpose
  return require('../tracing/create-tracing') as typeof CreateTracing;
}
