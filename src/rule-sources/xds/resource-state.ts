import { roomForBytes, writeBytes } from '../../wire/protobuf/write';
import { RESOURCES_TAG, type DeltaResponse, type ResourceChange } from './read-response';

/** The resources of the delta protocol, by name. */
export type ResourceState = ReadonlyMap<string, StoredResource>;

export interface StoredResource {
  readonly version: string;
  /** The bytes of its `Any`. */
  readonly resource: Uint8Array;
}

/** Pending changes to a state: a resource, or undefined where one is removed. */
export type ResourceDelta = ReadonlyMap<string, StoredResource | undefined>;

/** The changes of a response to a state. A resource without content confirms an existing one. */
export function toDelta({ changed, removed }: DeltaResponse): ResourceDelta {
  const delta = new Map<string, StoredResource | undefined>();
  for (const name of removed) delta.set(name, undefined);
  for (const change of changed) if (hasContent(change)) delta.set(change.name, change);
  return delta;
}

function hasContent(change: ResourceChange): change is ResourceChange & StoredResource {
  return change.resource !== undefined;
}

export function withDeltas(state: ResourceState, deltas: readonly ResourceDelta[]): ResourceState {
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
