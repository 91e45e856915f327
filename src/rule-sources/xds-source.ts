import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { defer, map, merge, tap, type Observable } from 'rxjs';
import { discoverySession, exhaustLatest, fromTask } from '../../streams';
import type { Clock, Random } from '../core/ports';
import type { DomainDefinition } from '../core/rules/definition';
import type { ParseOptions } from '../core/rules/parse/parse-rule-files';
import { toReason } from '../platform/errors';
import type { LoadResult, RuleFile } from './load-result';
import { parseInWorker } from './loader/parse-in-worker';
import { createRuleLoader, type ParseRules } from './loader/rule-loader';
import type { CurrentOverlays } from './overlay-files';
import { createOpenStream, type XdsServerOptions } from './xds/connect';
import { createDelta } from './xds/delta';
import { loadMethod, type Node } from './xds/messages';
import { createParseResources } from './xds/parse-resources';
import { type Protocol, isOfRules, type LoadState, createNackBackoff } from './xds/protocol';
import { type Response, readResources } from './xds/read-response';
import { createStateOfTheWorld } from './xds/state-of-the-world';

export interface XdsSourceOptions extends XdsServerOptions, ParseOptions {
  readonly protocol: 'state-of-the-world' | 'delta';
  readonly nodeId: string;
  readonly nodeMetadata: Readonly<Record<string, string>>;
  /** Between attempts until the first message came. */
  readonly connectRetryIntervalMs: number;
  readonly backoff: {
    readonly initialMs: number;
    readonly maxMs: number;
    /** Share of a wait that may be added or removed, 0 to 1. */
    readonly jitter: number;
  };
}

/** The stream's events, for a log. */
export type StreamEvent =
  | { readonly kind: 'connected' }
  | { readonly kind: 'lost'; readonly reason: string; readonly nextAttemptMs: number };

export interface XdsSourceDeps<R> {
  /** Compiles, pausing often: one slice runs per turn of the event loop. */
  readonly compile: (domains: readonly DomainDefinition[]) => Generator<unknown, R>;
  readonly clock: Clock;
  readonly random: Random;
  readonly onStream: (event: StreamEvent) => void;
  /** Parses off the main thread; default: a thread with the built script. */
  readonly parse?: ParseRules;
  /** Default: there are none. */
  readonly overlays?: CurrentOverlays | undefined;
}

/** Growth of the wait from one attempt to the next. */
const GROWTH = 1.5;

/** The wait before the NACK of something refused before: a tenth of that between connections. */
const NACK_SHARE = 0.1;

/** Below this many bytes parsing takes about a millisecond, less than starting a thread. */
const SMALL_BYTES = 4_096;

/**
 * Rules from a management server, by the aggregated discovery service of xDS (docs/rule-files.md): a load for each state of the server
 * that was checked. Connects on subscribe; never errors and never completes; unsubscribing closes the connection and ends a load.
 */
export function createXdsSource<R>(options: XdsSourceOptions, deps: XdsSourceDeps<R>) {
  const { load, loadAgain } = createLoadState(options, deps);
  const node = toNode(options);
  const { initialMs, maxMs, jitter } = options.backoff;
  const backoff = { initialMs, maxMs, jitter, factor: GROWTH };
  const nackBackoff = createNackBackoff({
    backoff: { ...backoff, initialMs: initialMs * NACK_SHARE, maxMs: maxMs * NACK_SHARE },
    random: deps.random,
  });
  const timing = { ...options, backoff };
  const loads$ =
    options.protocol === 'delta'
      ? follow(createDelta<R>({ node, load, nackBackoff }), timing, deps)
      : follow(createStateOfTheWorld<R>({ node, load, nackBackoff }), timing, deps);
  const { overlays } = deps;
  return { loads$: overlays === undefined ? loads$ : withOverlays(loads$, overlays, loadAgain) };
}

/** The loads of the server, and those of its last accepted state with other overlays, under the version that it had. */
function withOverlays<R>(
  loads$: Observable<LoadResult<R>>,
  { changed$ }: CurrentOverlays,
  loadAgain: LoadAgain<R>,
): Observable<LoadResult<R>> {
  return defer(() => {
    let named: Pick<LoadResult<R>, 'version'> = {};
    const ofServer$ = loads$.pipe(
      tap(({ ok, version }) => {
        if (ok && version !== undefined) named = { version };
      }),
    );
    const again$ = changed$.pipe(
      exhaustLatest(() => fromTask(loadAgain)),
      map((load) => ({ ...load, ...named })),
    );
    return merge(ofServer$, again$);
  });
}

type Timing = XdsSourceOptions & { readonly backoff: { readonly factor: number } };

function follow<In extends Response, R>(
  protocol: Protocol<In, R>,
  options: Timing,
  { random, onStream }: XdsSourceDeps<R>,
): Observable<LoadResult<R>> {
  return discoverySession<In, object, LoadResult<R>>({
    open: createOpenStream(loadMethod(protocol.method), options, protocol.read, () => {
      onStream({ kind: 'connected' });
    }),
    initialRequest: protocol.initialRequest,
    handle: (responses) => fromTask((signal) => protocol.handle(responses, signal)),
    supersedes: protocol.supersedes,
    isChanged: protocol.isChanged,
    isGood: isOfRules,
    firstRetryMs: options.connectRetryIntervalMs,
    backoff: options.backoff,
    random,
    onLost: ({ reason, nextAttemptMs }) => {
      onStream({ kind: 'lost', reason: toReason(reason), nextAttemptMs });
    },
  });
}

function createLoadState<R>(
  { mergeDomains, abilities, hasZone, secretKeyIds }: XdsSourceOptions,
  { compile, clock, parse, overlays }: XdsSourceDeps<R>,
): { readonly load: LoadState<R>; readonly loadAgain: LoadAgain<R> } {
  const parseHere = createParseResources();
  const parseSmall: ParseRules = (files, parseOptions) =>
    new Promise((resolve) => {
      resolve(parseHere(files, parseOptions));
    });
  const script = require.resolve('./xds-worker');
  const parseElsewhere = parse ?? parseInWorker({ script });
  const load = createRuleLoader(
    {
      parse: (files, parseOptions, signal) => {
        const isSmall = files.every(({ bytes }) => bytes.length < SMALL_BYTES);
        return (isSmall ? parseSmall : parseElsewhere)(files, parseOptions, signal);
      },
      parseSmall,
      compile,
      clock,
      digest: digestResources,
      overlays: overlays?.current,
    },
    { mergeDomains, abilities, hasZone, secretKeyIds },
  );
  let accepted: Uint8Array | undefined;
  let before: Promise<unknown> = Promise.resolve();
  const loadNow = async (message: Uint8Array, signal: AbortSignal) => {
    // Receiving it took its part of this turn of the event loop; starting a thread takes milliseconds.
    await setImmediate();
    // A thread detaches its bytes; the message may share memory with others.
    const bytes = new Uint8Array(message);
    const loaded = await load({ files: [{ file: '', bytes }], problems: [] }, signal);
    if (loaded.ok && overlays !== undefined) accepted = message;
    return loaded;
  };
  /** One after the other, so that what comes last is in force. */
  const inTurn = <T>(task: () => Promise<T>): Promise<T> => {
    const result = before.then(task);
    before = result.catch(() => undefined);
    return result;
  };
  return {
    load: (message, signal) =>
      overlays === undefined ? loadNow(message, signal) : inTurn(() => loadNow(message, signal)),
    loadAgain: (signal) =>
      inTurn(async () => (accepted === undefined ? undefined : loadNow(accepted, signal))),
  };
}

/** Loads the last accepted state again; undefined: there is none. */
type LoadAgain<R> = (signal: AbortSignal) => Promise<LoadResult<R> | undefined>;

function toNode({ nodeId, nodeMetadata }: XdsSourceOptions): Node {
  const fields = Object.entries(nodeMetadata).map(
    ([name, value]) => [name, { stringValue: value }] as const,
  );
  return { id: nodeId, metadata: { fields: Object.fromEntries(fields) } };
}

/** Covers only resources, in any order: versions and nonces of their messages differ from client to client. */
function* digestResources(files: readonly RuleFile[]): Generator<void, string> {
  const digests: string[] = [];
  for (const { bytes } of files) {
    for (const { value } of readResources(bytes)) {
      digests.push(createHash('sha256').update(value).digest('hex'));
      yield;
    }
  }
  const sha = createHash('sha256');
  for (const digest of digests.sort()) sha.update(digest);
  return `sha256:${sha.digest('hex')}`;
}
