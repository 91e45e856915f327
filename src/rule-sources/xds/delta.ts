import type { LoadResult } from '../load-result';
import { RULES_TYPE_URL, type DeltaDiscoveryRequest } from './messages';
import {
  handleEach,
  toAckDecision,
  type ResponseOutcome,
  type Protocol,
  type ProtocolDeps,
  isOfRules,
  refusedContent,
  refuseType,
  toErrorDetail,
} from './protocol';
import {
  readDeltaResponse,
  type DeltaResponse,
  RESOURCES_TAG,
  type ResourceChange,
} from './read-response';
import { roomForBytes, writeBytes } from '../../wire/protobuf/write';

/**
 * The protocol in which each response contains the changes (`DeltaAggregatedResources`).
 *
 * A server does not send refused resources again. So the changes of a refused response are held, and retried together with those
 * that follow: once the bad resource is mended or removed, the good ones beside it apply.
 */
export function createDelta<R>({
  node,
  load,
  nackBackoff,
}: ProtocolDeps<R>): Protocol<DeltaResponse, R> {
  let accepted: ResourceState = new Map();
  let held: ResourceDelta = new Map();
  /** Cache for pending responses: it is read for each one that arrives. */
  const contents = new WeakMap<DeltaResponse, string>();
  const contentOf = (response: DeltaResponse): string => {
    const content = contents.get(response) ?? toContent(response);
    contents.set(response, content);
    return content;
  };

  const request = (more: Partial<DeltaDiscoveryRequest>): DeltaDiscoveryRequest => ({
    node,
    typeUrl: RULES_TYPE_URL,
    ...more,
  });

  /** Loads the accepted resources with these changes; on success, the result becomes the accepted state. */
  const attempt = async (deltas: readonly ResourceDelta[], signal: AbortSignal) => {
    const candidate = withDeltas(accepted, deltas);
    const loaded = await load(toMessage(candidate), signal);
    if (loaded.ok) accepted = candidate;
    return loaded;
  };

  /** With the held changes if possible, else without them. */
  const attemptChanges = async (
    changes: readonly ResourceDelta[],
    signal: AbortSignal,
  ): Promise<LoadResult<R>> => {
    if (held.size === 0) return attempt(changes, signal);
    const withHeld = await attempt([held, ...changes], signal);
    if (withHeld.ok) {
      held = new Map();
      return withHeld;
    }
    const without = await attempt(changes, signal);
    if (without.ok) held = withoutNames(held, changes);
    return without;
  };

  const handleOne = async (
    response: DeltaResponse,
    signal: AbortSignal,
  ): Promise<ResponseOutcome<R>> => {
    const delta = toDelta(response);
    const isRules = isOfRules(response);
    const loaded = isRules ? await attemptChanges([delta], signal) : refuseType(response);
    if (loaded.ok) return accept(response, loaded);
    if (isRules) held = new Map([...held, ...delta]);
    const content = contentOf(response);
    const isRepeat = nackBackoff.isRepeat(() => content);
    const errorDetail = toErrorDetail(loaded);
    const answer = request({ responseNonce: response.nonce, errorDetail });
    const load = { ...loaded, version: response.version };
    return { load, answer, nackDelayMs: nackBackoff.refuse(content), isRepeat };
  };

  const accept = ({ nonce, version }: DeltaResponse, loaded: LoadResult<R>): ResponseOutcome<R> => {
    nackBackoff.accept();
    const answer = request({ responseNonce: nonce });
    return { load: { ...loaded, version }, answer, nackDelayMs: undefined, isRepeat: false };
  };

  /** Handles all pending responses as one change; undefined if it contains a mistake, so that each must be handled alone. */
  const handleTogether = async (responses: readonly DeltaResponse[], signal: AbortSignal) => {
    if (responses.length < 2 || !responses.every(isOfRules)) return undefined;
    const loaded = await attemptChanges(responses.map(toDelta), signal);
    if (!loaded.ok) return undefined;
    const outcomes = responses.map((response) => accept(response, loaded));
    return { ...toAckDecision(outcomes), results: outcomes.slice(-1).map(({ load }) => load) };
  };

  return {
    method: 'DeltaAggregatedResources',
    read: readDeltaResponse,
    initialRequest() {
      held = new Map();
      const versions = [...accepted].map(([name, { version }]) => [name, version] as const);
      return request({ initialResourceVersions: Object.fromEntries(versions) });
    },
    async handle(responses, signal) {
      const together = await handleTogether(responses, signal);
      if (together !== undefined) return together;
      return toAckDecision(await handleEach(responses, (one) => handleOne(one, signal)));
    },
    supersedes: (next, waiting) =>
      nackBackoff.isRepeat(() => contentOf(next)) && nackBackoff.isRepeat(() => contentOf(waiting)),
    isChanged: (response) => !nackBackoff.isRepeat(() => contentOf(response)),
  };
}

function withoutNames(delta: ResourceDelta, changes: readonly ResourceDelta[]): ResourceDelta {
  return new Map([...delta].filter(([name]) => !changes.some((change) => change.has(name))));
}

/** Equal for responses with the same content; nonces differ. */
function toContent(response: DeltaResponse): string {
  const { changed, removed } = response;
  return refusedContent(response, () => [
    changed.map(({ name, version }) => [name, version]),
    removed,
  ]);
}

/** The resources of the delta protocol, by name. */
type ResourceState = ReadonlyMap<string, StoredResource>;

interface StoredResource {
  readonly version: string;
  /** The bytes of its `Any`. */
  readonly resource: Uint8Array;
}

/** Pending changes to a state: a resource, or undefined where one is removed. */
type ResourceDelta = ReadonlyMap<string, StoredResource | undefined>;

/** The changes of a response to a state. A resource without content confirms an existing one. */
function toDelta({ changed, removed }: DeltaResponse): ResourceDelta {
  const delta = new Map<string, StoredResource | undefined>();
  for (const name of removed) delta.set(name, undefined);
  for (const change of changed) if (hasContent(change)) delta.set(change.name, change);
  return delta;
}

function hasContent(change: ResourceChange): change is ResourceChange & StoredResource {
  return change.resource !== undefined;
}

function withDeltas(state: ResourceState, deltas: readonly ResourceDelta[]): ResourceState {
  const next = new Map(state);
  for (const delta of deltas) {
    for (const [name, stored] of delta) {
      if (stored === undefined) next.delete(name);
      else next.set(name, stored);
    }
  }
  return next;
}

/** All resources in the field `resources` of one message, as in the other protocol. */
export function toMessage(state: ResourceState): Uint8Array {
  let size = 0;
  for (const { resource } of state.values()) size += roomForBytes(resource);
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const { resource } of state.values()) at = writeBytes(bytes, at, RESOURCES_TAG, resource);
  return bytes.subarray(0, at);
}
