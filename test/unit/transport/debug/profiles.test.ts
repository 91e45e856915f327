import type { HeapProfiler, Profiler } from 'node:inspector';
import { Profile } from 'pprof-format';
import { parseProfileRequest } from '../../../../src/transport/debug/profile-endpoint';
import { readCpuProfile } from '../../../../src/transport/debug/profiles/cpu-profile';
import { readHeapProfile } from '../../../../src/transport/debug/profiles/heap-profile';
import { toPprof } from '../../../../src/transport/debug/profiles/to-pprof';

const frame = (functionName: string, lineNumber = 0, url = 'file:///srv/a.js') => ({
  functionName,
  scriptId: '0',
  url,
  lineNumber,
  columnNumber: 0,
});

const CPU: Profiler.Profile = {
  startTime: 1_000_000,
  endTime: 1_006_000,
  nodes: [
    { id: 1, callFrame: frame('(root)'), children: [2, 3] },
    { id: 2, callFrame: frame('outer', 4), children: [4] },
    { id: 3, callFrame: frame('(idle)') },
    { id: 4, callFrame: frame('', 7) },
  ],
  samples: [2, 4, 4, 3, 1],
  timeDeltas: [1_000, 2_000, -5, 900, 10],
};

describe('a CPU profile', () => {
  const profile = readCpuProfile(CPU, 1_700_000_000_000);

  it('sums samples and times of each stack, innermost function first', () => {
    expect(profile.samples).toEqual([
      { stack: [frame('outer', 4)], values: [1, 1_000_000] },
      { stack: [frame('', 7), frame('outer', 4)], values: [2, 2_000_000] },
    ]);
    expect(profile.durationMs).toBe(6);
  });

  it('becomes a pprof profile with each function once', () => {
    const decoded = Profile.decode(toPprof(profile));
    const { strings } = decoded.stringTable;
    const nameOf = (index: number | bigint) => strings[Number(index)];
    expect(decoded.sampleType.map(({ type, unit }) => [nameOf(type), nameOf(unit)])).toEqual([
      ['samples', 'count'],
      ['cpu', 'nanoseconds'],
    ]);
    expect(
      decoded.function.map(({ name, filename, startLine }) => [
        nameOf(name),
        nameOf(filename),
        Number(startLine),
      ]),
    ).toEqual([
      ['outer', '/srv/a.js', 5],
      ['(anonymous)', '/srv/a.js', 8],
    ]);
    expect(
      decoded.sample.map(({ locationId, value }) => [locationId, value].map(toNumbers)),
    ).toEqual([
      [[1], [1, 1_000_000]],
      [
        [2, 1],
        [2, 2_000_000],
      ],
    ]);
    expect(BigInt(decoded.timeNanos)).toBe(1_700_000_000_000_000_000n);
    expect(Number(decoded.durationNanos)).toBe(6_000_000);
  });
});

function toNumbers(values: readonly (number | bigint)[]): number[] {
  return values.map(Number);
}

describe('a heap profile', () => {
  it('holds the bytes of each stack, without the root', () => {
    const leaf = { callFrame: frame('leaf'), selfSize: 64, children: [] };
    const head: HeapProfiler.SamplingHeapProfileNode = {
      callFrame: frame('(root)'),
      selfSize: 8,
      children: [{ callFrame: frame('outer'), selfSize: 0, children: [leaf] }],
    };
    const profile = readHeapProfile({ head }, 1_000, 0);
    expect(profile.samples).toEqual([{ stack: [frame('leaf'), frame('outer')], values: [64] }]);
    expect(profile.kinds).toEqual([{ type: 'inuse_space', unit: 'bytes' }]);
  });
});

describe('the query of a profile', () => {
  it.each([
    ['profile', '', { kind: 'profile', seconds: 30, format: 'pprof', collect: false }],
    ['heap', '', { kind: 'heap', seconds: 10, format: 'pprof', collect: false }],
    [
      'heap',
      'seconds=60&gc=1&format=v8',
      { kind: 'heap', seconds: 60, format: 'v8', collect: true },
    ],
  ] as const)('of %s %j is understood', (kind, query, expected) => {
    expect(parseProfileRequest(kind, new URLSearchParams(query))).toEqual(expected);
  });

  it.each(['seconds=0', 'seconds=61', 'seconds=1.5', 'seconds=', 'seconds=x', 'format=svg'])(
    '%j is refused with what was expected',
    (query) => {
      expect(parseProfileRequest('profile', new URLSearchParams(query))).toMatch(/expected/);
    },
  );
});
