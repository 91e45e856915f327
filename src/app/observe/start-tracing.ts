import { randomUUID } from 'node:crypto';
import type { Settings } from '../../settings/settings';
import type * as CreateTracing from '../../tracing/create-tracing';
import type { OutageLog } from '../outage-log';
import { packageVersion } from '../../platform/package';

const loadTracing = () => require('../../tracing/create-tracing') as typeof CreateTracing;

const SYSTEM_OF_BACKEND = {
  kvstore: { 'db.system.name': 'redis' },
  memstore: { 'db.system.name': 'memcached' },
  memory: {},
} as const;

export interface StartTracingDeps extends Omit<CreateTracing.TracingDeps, 'onExport'> {
  readonly outages: Pick<OutageLog, 'failed' | 'succeeded'>;
}

/** The name of the outage. */
const TRACES = 'traces';

/** The tracing of the settings; undefined when it is off, and then none of its code is loaded. */
export function startTracing(
  { tracing, backend }: Settings,
  { outages, ...deps }: StartTracingDeps,
): CreateTracing.Tracing | undefined {
  if (tracing === undefined) return undefined;
  const { resourceAttributes, serviceInstanceId = randomUUID(), ...rest } = tracing;
  const collector = new URL(tracing.exporter.url).host;
  const lines = {
    level: 'warn',
    failing: `traces do not reach the collector at ${collector}, they are lost`,
    ended: `traces reach the collector at ${collector} again`,
  } as const;
  const onExport = (failure: string | undefined): void => {
    if (failure === undefined) outages.succeeded(TRACES);
    else outages.failed(TRACES, lines, { reason: failure });
  };
  return loadTracing().createTracing(
    { ...deps, onExport },
    {
      ...rest,
      resourceAttributes: {
        'service.version': packageVersion(),
        ...resourceAttributes,
        'service.instance.id': serviceInstanceId,
      },
      store: SYSTEM_OF_BACKEND[backend],
    },
  );
}
