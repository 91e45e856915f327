import {
  createCursor,
  readEnd,
  readTag,
  skipField,
  startAt,
  type Cursor,
} from '../../wire/protobuf/read';

/** The parts of a response that its answer needs. Its resources stay bytes: they are decoded elsewhere, or never. */
export interface Response {
  readonly typeUrl: string;
  readonly nonce: string;
  /** The version of the whole state; in the delta protocol only for people. */
  readonly version: string;
  /** The bytes of the whole message. */
  readonly bytes: Uint8Array;
}

export interface DeltaResponse extends Response {
  readonly changed: readonly ResourceChange[];
  readonly removed: readonly string[];
}

/** A `Resource` of the delta protocol. */
export interface ResourceChange {
  readonly name: string;
  readonly version: string;
  /** The bytes of its `Any`; undefined when the message only confirms the resource. */
  readonly resource: Uint8Array | undefined;
}

const tagOf = (field: number) => field * 8 + 2;

/** `google.protobuf.Any`. */
export interface Resource {
  readonly typeUrl: string;
  readonly value: Uint8Array;
}

/** The tag of `resources` in both responses. */
export const RESOURCES_TAG = tagOf(2);

/** Reads a `DiscoveryResponse`; throws when it is invalid. */
export function readResponse(bytes: Uint8Array): Response {
  const texts = new Map<number, string>();
  eachField(bytes, (tag, start, end) => {
    if (tag !== RESOURCES_TAG) texts.set(tag, toText(bytes, start, end));
  });
  return toResponse(bytes, texts);
}

/** Reads a `DeltaDiscoveryResponse`; throws when it is invalid. */
export function readDeltaResponse(bytes: Uint8Array): DeltaResponse {
  const texts = new Map<number, string>();
  const changed: ResourceChange[] = [];
  const removed: string[] = [];
  eachField(bytes, (tag, start, end) => {
    if (tag === RESOURCES_TAG) changed.push(readChange(bytes.subarray(start, end)));
    else if (tag === tagOf(6)) removed.push(toText(bytes, start, end));
    else texts.set(tag, toText(bytes, start, end));
  });
  return { ...toResponse(bytes, texts), changed, removed };
}

/** The `Any`s in the field `resources` of a response, as type URL and bytes. */
export function readResources(bytes: Uint8Array): readonly Resource[] {
  const resources: { typeUrl: string; value: Uint8Array }[] = [];
  eachField(bytes, (tag, start, end) => {
    if (tag === RESOURCES_TAG) resources.push(readAny(bytes.subarray(start, end)));
  });
  return resources;
}

function toResponse(bytes: Uint8Array, texts: ReadonlyMap<number, string>): Response {
  const text = (field: number) => texts.get(tagOf(field)) ?? '';
  return { version: text(1), typeUrl: text(4), nonce: text(5), bytes };
}

function readChange(bytes: Uint8Array): ResourceChange {
  let name = '';
  let version = '';
  let resource: Uint8Array | undefined;
  eachField(bytes, (tag, start, end) => {
    if (tag === tagOf(1)) version = toText(bytes, start, end);
    else if (tag === tagOf(2)) resource = bytes.subarray(start, end);
    else if (tag === tagOf(3)) name = toText(bytes, start, end);
  });
  return { name, version, resource };
}

function readAny(bytes: Uint8Array): { typeUrl: string; value: Uint8Array } {
  let typeUrl = '';
  let value = bytes.subarray(0, 0);
  eachField(bytes, (tag, start, end) => {
    if (tag === tagOf(1)) typeUrl = toText(bytes, start, end);
    else if (tag === tagOf(2)) value = bytes.subarray(start, end);
  });
  return { typeUrl, value };
}

/** Visits the length-delimited fields of a message; throws when it is invalid. */
function eachField(
  bytes: Uint8Array,
  visit: (tag: number, start: number, end: number) => void,
): void {
  const cursor: Cursor = createCursor();
  startAt(cursor, bytes, 0, bytes.length);
  while (cursor.at < cursor.end) {
    const tag = readTag(cursor);
    if ((tag & 7) !== 2) {
      if (cursor.fault === undefined) skipField(cursor, tag);
      continue;
    }
    const end = readEnd(cursor);
    if (cursor.fault === undefined) visit(tag, cursor.at, end);
    cursor.at = end;
  }
  if (cursor.fault !== undefined) throw new Error(`not a protobuf message: ${cursor.fault}`);
}

function toText(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString('utf8');
}
