import {
  Function as PprofFunction,
  Line,
  Location,
  Profile,
  Sample,
  StringTable,
  ValueType,
  emptyTableToken,
} from 'pprof-format';
import type { Steps } from '../../../core/steps';
import type { CallFrame, SampledProfile, ValueKind } from './v8-profiles';
import type { HeapProfiler, Profiler } from 'node:inspector';
import { printJson } from '../work/serve-work';

/** Samples, locations or functions encoded per step. */
const ITEMS_OF_PART = 16;

/**
 * Encodes a profile for `go tool pprof` and speedscope (pprof's profile message, not compressed). Concatenated protobuf messages
 * merge into one: a part is encoded per step.
 */
export function* toPprof(profile: SampledProfile): Steps<Uint8Array> {
  const strings = new StringTable();
  const places = createPlaces(strings);
  const toValueType = ({ type, unit }: ValueKind) =>
    new ValueType({ type: strings.dedup(type), unit: strings.dedup(unit) });
  const parts: Uint8Array[] = [];
  for (const samples of partsOf(profile.samples)) {
    const sample: Sample[] = [];
    for (const { stack, values } of samples) {
      sample.push(new Sample({ locationId: stack.map(places.locationOf), value: [...values] }));
      yield;
    }
    parts.push(encode({ sample }));
  }
  for (const location of partsOf(places.locations)) {
    parts.push(encode({ location }));
    yield;
  }
  for (const part of partsOf(places.functions)) {
    parts.push(encode({ function: part }));
    yield;
  }
  const rest = encode({
    sampleType: profile.kinds.map(toValueType),
    timeNanos: BigInt(Math.round(profile.takenAtMs)) * 1_000_000n,
    durationNanos: BigInt(Math.round(profile.durationMs)) * 1_000_000n,
    periodType: toValueType(profile.periodKind),
    period: profile.period,
  });
  return yield* joinParts([...parts, rest, strings.encode()]);
}

function* partsOf<T>(items: readonly T[]): Generator<T[], void> {
  for (let at = 0; at < items.length; at += ITEMS_OF_PART)
    yield items.slice(at, at + ITEMS_OF_PART);
}

/** A message with only these fields: all strings come once, at the end. */
function encode(fields: ConstructorParameters<typeof Profile>[0]): Uint8Array {
  return new Profile({ ...fields, stringTable: new StringTable(emptyTableToken) }).encode();
}

/** Each function and each location in it once, numbered from 1. */
function createPlaces(strings: StringTable) {
  const locations: Location[] = [];
  const functions: PprofFunction[] = [];
  const locationIds = new Map<string, number>();
  /** The stacks of a profile share their frames. */
  const idsOfFrames = new Map<CallFrame, number>();
  const idOf = ({ functionName, url, lineNumber }: CallFrame): number => {
    const name = functionName === '' ? '(anonymous)' : functionName;
    const key = `${name}\n${url}\n${String(lineNumber)}`;
    const known = locationIds.get(key);
    if (known !== undefined) return known;
    const id = locations.length + 1;
    const line = lineNumber + 1;
    const nameId = strings.dedup(name);
    functions.push(
      new PprofFunction({
        id,
        name: nameId,
        systemName: nameId,
        filename: strings.dedup(url.replace(/^file:\/\//, '')),
        startLine: line,
      }),
    );
    locations.push(new Location({ id, line: [new Line({ functionId: id, line })] }));
    locationIds.set(key, id);
    return id;
  };
  return {
    locations,
    functions,
    locationOf: (frame: CallFrame): number => {
      const id = idsOfFrames.get(frame) ?? idOf(frame);
      idsOfFrames.set(frame, id);
      return id;
    },
  };
}

type HeapNode = HeapProfiler.SamplingHeapProfileNode;
type RawProfile = Profiler.Profile | HeapProfiler.SamplingHeapProfile;

/** Characters encoded at once. */
const PIECE_LENGTH = 65_536;

/** A profile of the inspector as JSON. */
export function* printV8(profile: RawProfile): Steps<Uint8Array> {
  const pieces: Buffer[] = [];
  let text = '';
  for (const piece of 'head' in profile ? printHeap(profile) : printJson(profile, 2)) {
    text += piece;
    if (text.length >= PIECE_LENGTH) {
      pieces.push(Buffer.from(text));
      text = '';
    }
    yield;
  }
  return yield* joinParts([...pieces, Buffer.from(text)]);
}

function* printHeap({ head, ...rest }: HeapProfiler.SamplingHeapProfile): Generator<string, void> {
  yield '{"head":';
  yield* printTree(head);
  for (const [name, value] of Object.entries(rest)) {
    yield `,${JSON.stringify(name)}:`;
    yield* printJson(value, 1);
  }
  yield '}';
}

/** Recurses as deep as the stacks of the service are. */
function* printTree(root: HeapNode): Generator<string, void> {
  const open: (HeapNode | string)[] = [root];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (typeof next === 'string') {
      yield next;
      continue;
    }
    const { children, ...own } = next;
    yield `${JSON.stringify(own).slice(0, -1)},"children":[`;
    open.push(']}');
    for (let at = children.length - 1; at >= 0; at -= 1) {
      open.push(children[at] ?? '');
      if (at > 0) open.push(',');
    }
  }
}

/** Joins consecutive parts, one per step: there may be tens of megabytes. */
function* joinParts(parts: readonly Uint8Array[]): Steps<Uint8Array> {
  const joined = Buffer.allocUnsafe(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    joined.set(part, at);
    at += part.length;
    yield;
  }
  return joined;
}
