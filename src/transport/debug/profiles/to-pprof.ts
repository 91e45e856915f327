import {
  Function as PprofFunction,
  Line,
  Location,
  Profile,
  Sample,
  StringTable,
  ValueType,
} from 'pprof-format';
import type { CallFrame, SampledProfile, ValueKind } from './frames';

/** Encodes a profile for `go tool pprof` and speedscope (pprof's profile message, not compressed). */
export function toPprof(profile: SampledProfile): Uint8Array {
  const strings = new StringTable();
  const places = createPlaces(strings);
  const toValueType = ({ type, unit }: ValueKind) =>
    new ValueType({ type: strings.dedup(type), unit: strings.dedup(unit) });
  const sample = profile.samples.map(
    ({ stack, values }) =>
      new Sample({ locationId: stack.map(places.locationOf), value: [...values] }),
  );
  return new Profile({
    sampleType: profile.kinds.map(toValueType),
    sample,
    location: places.locations,
    function: places.functions,
    stringTable: strings,
    timeNanos: BigInt(Math.round(profile.takenAtMs)) * 1_000_000n,
    durationNanos: BigInt(Math.round(profile.durationMs)) * 1_000_000n,
    periodType: toValueType(profile.periodKind),
    period: profile.period,
  }).encode();
}

/** Each function and each place in it once, numbered from 1. */
function createPlaces(strings: StringTable) {
  const locations: Location[] = [];
  const functions: PprofFunction[] = [];
  const locationIds = new Map<string, number>();
  return {
    locations,
    functions,
    locationOf: (frame: CallFrame): number => {
      const { functionName, url, lineNumber } = frame;
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
    },
  };
}
