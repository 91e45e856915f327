import { createHash } from 'node:crypto';
import { defer, merge } from 'rxjs';
import type { Snapshot } from '../../../streams';
import { dumpRules } from '../../core/rules/dump';
import type { Rules } from '../../core/rules/rules';
import { createHttpListener, type HttpLimits } from '../../platform/http-listener';
import { addressText, listenAt } from '../../platform/listen-address';
import type { Logger } from '../../platform/logger';
import type { StatisticsSettings } from '../../settings/statistics';
import { createPullMetrics } from '../../stats/prometheus/create-pull-metrics';
import type { ProcessMetric } from '../../stats/prometheus/families';
import { loadMapping } from '../../stats/prometheus/parse-mapping';
import { createProcessMetrics } from '../../stats/prometheus/process-metrics';
import type { Registry } from '../../stats/registry';
import type { RulesVersion } from '../../core/explain/explanation';
import type { Actor } from '../actor';
import type { RulesActor } from '../rules/rules';
import { packageVersion } from '../../platform/package';

export interface ScrapeSinkDeps {
  readonly registry: Registry;
  readonly logger: Logger;
  readonly rules: Snapshot<Rules | undefined>;
  readonly rulesVersion: RulesActor['version'];
  readonly limits: HttpLimits;
  /** Bytes held by connections of other processes; undefined: there are none. */
  readonly heldByWorkers?: (() => number) | undefined;
}

/** Time limit of a scrape when the service stops. */
const LAST_SCRAPE_MS = 1_000;

/** The port for scrapes (`USE_PULLMETRICS`). Its `run$` errors when the port cannot be opened. */
export function createScrapeSink(
  { extraTags, pullMetrics }: StatisticsSettings,
  { registry, logger, rules, rulesVersion, limits, heldByWorkers }: ScrapeSinkDeps,
): Actor {
  const {
    host = '',
    port,
    addressSetting,
    path,
    mapperFile,
    responseTimeAsMilliseconds,
  } = pullMetrics;
  const ofProcess = createProcessMetrics();
  const ofBuild = createBuildMetrics(
    rules,
    () => limits.budget.heldBytes + (heldByWorkers?.() ?? 0),
  );
  const handle = createPullMetrics(
    {
      registry,
      logger,
      processMetrics: async () => [
        ...ofBuild(),
        ...rulesMetrics(rulesVersion()),
        ...(await ofProcess.read()),
      ],
    },
    {
      path,
      mapping: loadMapping(mapperFile, { logger, inMilliseconds: responseTimeAsMilliseconds }),
      extraTags,
    },
  );
  const listener = createHttpListener(
    // Metrics must stay readable during an overload; scrapes have bounds of their own.
    { handle, isVital: () => true },
    { host, port, limits },
  );
  const listen = async () => {
    const address = addressText(
      await listenAt(listener, { host: addressSetting, port: addressSetting }),
    );
    logger.warn(`listening for metrics on ${address}${path}`);
  };
  return {
    run$: merge(listener.run$, defer(listen)),
    close() {
      ofProcess.close();
      void listener.close(LAST_SCRAPE_MS);
    },
  };
}

/** The running build, a hash of its rules (equal where two instances have the same limits), and the bytes that connections hold. */
export function createBuildMetrics(
  rules: Snapshot<Rules | undefined>,
  heldBytes: () => number,
): () => readonly ProcessMetric[] {
  const build: ProcessMetric = {
    name: 'weir_build_info',
    type: 'gauge',
    help: 'the running build; always 1',
    labels: { version: packageVersion(), node: process.version },
    value: 1,
  };
  let hashed: Rules | undefined;
  let hash = 0;

  return () => {
    const { current } = rules;
    const held: ProcessMetric = {
      name: 'ratelimit_connections_held_bytes',
      type: 'gauge',
      help: 'bytes that all connections hold: unread answers, unanswered requests (MAX_HELD_BYTES)',
      value: heldBytes(),
    };
    if (current === undefined) return [build, held];
    if (current !== hashed) {
      hash = hashOf(current);
      hashed = current;
    }
    const help = 'first 48 bits of the SHA-256 of the limits in force, as /rlconfig lists them';
    return [build, held, { name: 'weir_config_hash', type: 'gauge', help, value: hash }];
  };
}

/** The rules in force, and since when. */
function rulesMetrics(rules: RulesVersion | undefined): readonly ProcessMetric[] {
  if (rules === undefined) return [];
  const { version, loadedAt, source } = rules;
  return [
    {
      name: 'weir_rules_info',
      type: 'gauge',
      help: 'the SHA-256 of the rules in force, by contents and relative names; always 1',
      labels: { version, source },
      value: 1,
    },
    {
      name: 'weir_rules_loaded_timestamp_seconds',
      type: 'gauge',
      help: 'Unix time at which the rules in force were loaded',
      value: Date.parse(loadedAt) / 1_000,
    },
  ];
}

function hashOf(rules: Rules): number {
  const sha = createHash('sha256');
  for (const line of [...dumpRules(rules)].sort()) sha.update(`${line}\n`);
  return sha.digest().readUIntBE(0, 6);
}
