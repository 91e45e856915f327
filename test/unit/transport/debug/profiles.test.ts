import type { HeapProfiler, Profiler } from 'node:inspector';
import { Profile } from 'pprof-format';
import type { Steps } from '../../../../src/core/steps';
import { parseProfileRequest } from '../../../../src/transport/debug/profile-endpoint';
import {
  readCpuProfile,
  type SampledProfile,
  readHeapProfile,
} from '../../../../src/transport/debug/profiles/v8-profiles';
import { toPprof, printV8 } from '../../../../src/transport/debug/profiles/to-pprof';
import { runSteps } from '../../../support/run-steps';

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
  let profile: SampledProfile;
  beforeAll(async () => {
    profile = await runSteps(readCpuProfile(CPU, 1_700_000_000_000));
  });

  it('sums samples and times of each stack, innermost function first', () => {
    expect(profile.samples).toEqual([
      { stack: [frame('outer', 4)], values: [1, 1_000_000] },
      { stack: [frame('', 7), frame('outer', 4)], values: [2, 2_000_000] },
    ]);
    expect(profile.durationMs).toBe(6);
  });

  it('becomes a pprof profile with each function once', async () => {
    const decoded = Profile.decode(await runSteps(toPprof(profile)));
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
  it('holds the bytes of each stack, without the root', async () => {
    const leaf = { callFrame: frame('leaf'), selfSize: 64, children: [] };
    const head: HeapProfiler.SamplingHeapProfileNode = {
      callFrame: frame('(root)'),
      selfSize: 8,
      children: [{ callFrame: frame('outer'), selfSize: 0, children: [leaf] }],
    };
    const profile = await runSteps(readHeapProfile({ head }, 1_000, 0));
    expect(profile.samples).toEqual([{ stack: [frame('leaf'), frame('outer')], values: [64] }]);
    expect(profile.kinds).toEqual([{ type: 'inuse_space', unit: 'bytes' }]);
  });
});

describe('a large profile', () => {
  const NODES = 39_600;
  const DEPTH = 60;
  const STARTS = Array.from({ length: NODES / DEPTH }, (_, chain) => 2 + chain * DEPTH);
  /** Chains of functions below the root, a sample of each. */
  const nodes = Array.from({ length: NODES }, (_, at): Profiler.ProfileNode => {
    const isRoot = at === 0;
    const children = isRoot ? STARTS : at % DEPTH === 0 ? [] : [at + 2];
    return {
      id: at + 1,
      callFrame: frame(isRoot ? '(root)' : `f${String(at % 4_000)}`, at % 4_000),
      children: children.filter((id) => id <= NODES),
    };
  });
  const cpu: Profiler.Profile = {
    startTime: 0,
    endTime: 60_000_000,
    nodes,
    samples: nodes.map(({ id }) => id),
    timeDeltas: nodes.map(() => 1_000),
  };
  let head: HeapProfiler.SamplingHeapProfileNode | undefined;
  for (const { callFrame } of nodes.toReversed().slice(0, 1_000))
    head = { callFrame, selfSize: 8, children: head === undefined ? [] : [head] };

  /** Runs steps that wait for nothing: the result, and how many there were. */
  function count<T>(steps: Steps<T>): { readonly result: T; readonly steps: number } {
    for (let count = 0; ; count += 1) {
      const step = steps.next();
      if (step.done === true) return { result: step.value, steps: count };
    }
  }

  it('is converted in steps', () => {
    const read = count(readCpuProfile(cpu, 0));
    expect(read.steps).toBeGreaterThan(NODES);
    const written = count(toPprof(read.result));
    expect(written.steps).toBeGreaterThan(NODES);
    const { sample, location, stringTable } = Profile.decode(written.result);
    expect([sample.length, location.length]).toEqual([NODES - 1, 4_000]);
    expect(stringTable.strings).toHaveLength(4_000 + 6);
    expect(sample[DEPTH - 1]?.locationId).toHaveLength(DEPTH);
  });

  it("is written as V8's own JSON in steps", () => {
    const { result, steps } = count(printV8(cpu));
    expect(JSON.parse(Buffer.from(result).toString())).toEqual(cpu);
    expect(steps).toBeGreaterThan(NODES);
  });

  it('may have stacks of a thousand functions', () => {
    if (head === undefined) throw new Error('there is no head');
    const samples = [{ size: 8, nodeId: 1, ordinal: 1 }];
    const profile = { head, samples };
    const { result, steps } = count(printV8(profile));
    expect(Buffer.from(result).toString()).toBe(JSON.stringify(profile));
    expect(steps).toBeGreaterThan(1_000);
    const read = count(readHeapProfile(profile, 1_000, 0));
    expect(read.result.samples).toHaveLength(999);
    expect(read.steps).toBeGreaterThan(999);
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
