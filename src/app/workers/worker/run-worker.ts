import cluster from 'node:cluster';
import { merge, tap, timer } from 'rxjs';
import { createStopSignal } from '../../../../streams';
import { monotonicMs, systemClock } from '../../../platform/clock';
import { hushServerNameWarning } from '../../../platform/server-name';
import { createLogger, standardError, type Logger } from '../../../platform/logger';
import { type Settings, readSettings } from '../../../settings/settings';
import { createRegistry } from '../../../stats/registry';
import { runToCompletion } from '../../actor';
import { toLimitOptions } from '../../rules/load-options';
import { chooseCounters, type CounterStore } from '../../store/store';
import { createDecider, type Deciders } from '../../compose/decider';
import { BUSY, createBusyShare } from '../../../platform/busy-share';
import { openLimitsFrom } from '../../store/open-limits-from';
import { createConnectionLimits, untilFirst } from '../../process/open-ports';
import { createOutageLog } from '../../outage-log';
import { isCurable, linesOf, STOP_SIGNALS } from '../../process/run-process';
import { createSecretKeys } from '../../secrets/create-secret-keys';
import { startTracing } from '../../observe/start-tracing';
import type { Certificates } from '../../tls/certificates';
import { HELD_BYTES, type FromWorker, type ToWorker, type WorkerPlace } from '../messages';
import { createOwnerLink, createProfileDuty } from './owner-link';
import { createReporter, createLogWriter, openDecisionLines } from './reporter';
import { shareSettings } from './share-settings';

const REPORT_MS = 1_000;

/** A worker from its start to its end: one decider, which its owner (the process that started it) feeds and stops. */
export function runWorker(process: NodeJS.Process, { worker, count }: WorkerPlace): void {
  hushServerNameWarning(process);
  // Only the owner acts on signals: a terminal sends them to the whole group.
  for (const signal of STOP_SIGNALS) process.on(signal, () => undefined);
  // Only its owner follows the rules and knows whether the service is healthy.
  process.once('disconnect', () => process.exit(1));
  // The channel broke during a message of Node's own, before its close was noticed.
  cluster.worker?.once('error', () => process.exit(1));
  const read = readSettings(process.env);
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const settings = shareSettings(read.settings, count);
  const send = createSend(process);
  const logger = createLogger({
    ...settings.logging,
    always: { worker },
    write: createLogWriter(send, standardError()),
  });
  const refuseStart = endOnFault(process, logger, send);
  // Not before its owner answers: a setting that both refuse ends the owner too, and is reported once.
  let link: ReturnType<typeof assemble> | undefined;
  process.on('message', (message: ToWorker) => {
    link ??= assemble(settings, logger, send, refuseStart);
    link.take(message);
  });
  void send({ kind: 'hello' });
}

type Send = (message: FromWorker) => Promise<void>;

/** Settles when the channel has accepted a message; one that breaks ends the process by `disconnect`. */
function createSend(process: NodeJS.Process): Send {
  return (message) =>
    new Promise((resolve) => {
      if (!process.connected) resolve();
      else
        process.send?.(message, undefined, undefined, () => {
          resolve();
        });
    });
}

/** Ends the process on an unhandled error. Returns the function for an error at the start. */
function endOnFault(process: NodeJS.Process, logger: Logger, send: Send): (error: unknown) => void {
  // Another worker in this place would end in the same way: the owner ends the service.
  const refuse = (error: unknown): void => {
    void send({ kind: 'fatal', problems: linesOf(error) }).then(() => process.exit(1));
  };
  const crash = (error: unknown): void => {
    if (error instanceof AggregateError || isCurable(error)) {
      refuse(error);
      return;
    }
    logger.error('exiting because of an unexpected error', { error });
    process.exit(1);
  };
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);
  return refuse;
}

function assemble(
  settings: Settings,
  logger: Logger,
  send: Send,
  refuseStart: (error: unknown) => void,
) {
  const registry = createRegistry();
  const deps = { clock: systemClock, monotonicMs, random: Math.random, logger };
  const reporter = createReporter(registry, send);
  // The owner counts loads of the file of keys.
  const statistics = { count: () => undefined };
  const secretKeys = createSecretKeys(settings.secrets.keysFile, { ...deps, statistics });
  const stopping = createStopSignal();
  registry.gauge(BUSY, createBusyShare());
  // The owner reports it when there is no room for more.
  const { maxSeries } = settings.statistics;
  registry.limitSeries({ maxSeries, onFull: () => undefined });
  let decider: Deciders | undefined;
  let isListening = false;
  let isWatched = false;
  let isShowing = false;
  let end: (withinMs: number) => Promise<void> = () => Promise.resolve();

  const start = async (components: readonly string[], certificates: Certificates | undefined) => {
    const store = chooseCounters(settings, { ...deps, statistics: registry });
    const outages = createOutageLog(deps);
    const tracing = startTracing(settings, { ...deps, statistics: registry, outages });
    const limitsFrom = openLimitsFrom({ ...deps, store, statistics: registry, outages });
    const limits = createConnectionLimits(settings.bounds, registry);
    registry.gauge(HELD_BYTES, () => limits.budget.heldBytes);
    const { rules, whyNoRules, checks, isRead, health } = link;
    const one = createDecider(
      settings,
      { ...deps, registry, store, outages, tracing, limitsFrom, openLog: openDecisionLines(send) },
      { rules, whyNoRules, checks, isRead, health, components, certificates, limits },
    );
    decider = one;
    if (isWatched) one.live.start();
    end = async (withinMs) => {
      await one.closePorts(withinMs);
      await one.finish();
      await one.closeTraces();
      outages.close();
      link.close();
      secretKeys.close();
      stopping.stop();
      await done;
    };
    // One at a time: an owner that does not read gets nothing more.
    const show = (): void => {
      isShowing = true;
      const seen = { figures: one.live.take(), outages: outages.open() };
      void send({ kind: 'figures', ...seen }).then(() => (isShowing = false));
    };
    const reports$ = timer(REPORT_MS, REPORT_MS).pipe(
      tap(() => {
        void reporter.report();
        if (isWatched && !isShowing) show();
      }),
      stopping.until(),
    );
    const done = runToCompletion(
      merge(
        outages.run$,
        secretKeys.run$,
        one.run$,
        reports$,
        storeReports(store, send).pipe(stopping.until()),
      ),
    );
    done.catch((error: unknown) => {
      throw error;
    });
    await untilFirst(settings, isRead.changes$, [store.connected$]);
    const addresses = await one.listen();
    isListening = true;
    await send({ kind: 'listening', addresses });
  };
  const link = createOwnerLink(
    send,
    {
      start: (components, certificates) => void start(components, certificates).catch(refuseStart),
      collect: ({ id }) => void reporter.report(id),
      watch({ isOn }) {
        isWatched = isOn;
        if (isOn) decider?.live.start();
        else decider?.live.stop();
      },
      profile: createProfileDuty(send, { clock: systemClock, monotonicMs }),
      'count-connections'() {
        // Before it listens, a worker has no room.
        const open = decider?.connections?.open;
        if (isListening && open !== undefined) void send({ kind: 'connections', open });
      },
      'keep-connections': ({ most }) => decider?.connections?.keep(most),
      drain: ({ withinMs }) =>
        void end(withinMs)
          .then(() => reporter.report())
          .then(() => process.exit(0)),
    },
    { ...toLimitOptions(settings), bounds: settings.bounds, tokens: secretKeys.tokens },
  );
  return link;
}

/** Reports the connections of the stores to the owner whenever one changes, and each second when there is another reason. */
function storeReports(store: CounterStore, send: Send) {
  const connected = new Map<string, boolean>();
  let lastSent = '';
  const reasons = () => ({
    whyAway: store.whyAway(),
    misplaced: store.misplaced(),
  });
  const toText = ({ whyAway, misplaced }: ReturnType<typeof reasons>): string =>
    JSON.stringify([whyAway, ...misplaced]);
  const tell = (): void => {
    const now = reasons();
    lastSent = toText(now);
    void send({ kind: 'store', state: { connected, ...now } });
  };
  return merge(
    ...[...store.connections].map(([name, connected$]) =>
      connected$.pipe(
        tap((is) => {
          connected.set(name, is);
          tell();
        }),
      ),
    ),
    timer(REPORT_MS, REPORT_MS).pipe(
      tap(() => {
        if (toText(reasons()) !== lastSent) tell();
      }),
    ),
  );
}
