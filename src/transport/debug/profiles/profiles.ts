import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../../core/ports';
import { until, type Steps } from '../../../core/steps';
import {
  readCpuProfile,
  CPU_INTERVAL_MICROSECONDS,
  readHeapProfile,
  HEAP_INTERVAL_BYTES,
} from './v8-profiles';
import { toPprof, printV8 } from './to-pprof';
import type { HeapProfiler, Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { setTimeout as delay } from 'node:timers/promises';

const compress = promisify(gzip);

export interface ProfileRequest {
  readonly kind: 'profile' | 'heap';
  readonly seconds: number;
  /** `pprof`: the gzipped profile message of pprof; `v8`: the JSON that Chrome and speedscope open. */
  readonly format: 'pprof' | 'v8';
  /** Heap only: run a full garbage collection first. */
  readonly collect: boolean;
}

export interface ProfileFile {
  readonly name: string;
  readonly contentType: string;
  readonly bytes: Uint8Array;
}

/** Takes a profile of this process; throws when it is aborted. */
export function* takeProfile(
  { kind, seconds, format, collect }: ProfileRequest,
  signal: AbortSignal,
  clock: Clock,
): Steps<ProfileFile> {
  const isCpu = kind === 'profile';
  const raw = isCpu
    ? yield* takeCpuProfile(seconds, signal)
    : yield* takeHeapProfile(seconds, signal, collect);
  if (format === 'v8') {
    return {
      name: isCpu ? 'cpu.cpuprofile' : 'heap.heapprofile',
      contentType: 'application/json',
      bytes: yield* printV8(raw),
    };
  }
  const takenAtMs = clock() * 1_000;
  const profile =
    'head' in raw
      ? yield* readHeapProfile(raw, seconds * 1_000, takenAtMs)
      : yield* readCpuProfile(raw, takenAtMs);
  return {
    name: isCpu ? 'cpu.pb.gz' : 'heap.pb.gz',
    contentType: 'application/octet-stream',
    bytes: yield* until(compress(yield* toPprof(profile))),
  };
}

/** Runs V8's CPU profiler on this process. An abort ends it at once and throws. V8 makes its answer, and we read it, in one step. */
function takeCpuProfile(seconds: number, signal: AbortSignal): Steps<Profiler.Profile> {
  return inspect(function* (session) {
    const interval = CPU_INTERVAL_MICROSECONDS;
    yield* until(session.post('Profiler.enable'));
    yield* until(session.post('Profiler.setSamplingInterval', { interval }));
    yield* until(session.post('Profiler.start'));
    yield delay(seconds * 1_000, undefined, { signal });
    return (yield* until(session.post('Profiler.stop'))).profile;
  });
}

/** Runs V8's sampling heap profiler on this process; `collect` runs a full garbage collection first. */
function takeHeapProfile(
  seconds: number,
  signal: AbortSignal,
  collect: boolean,
): Steps<HeapProfiler.SamplingHeapProfile> {
  return inspect(function* (session) {
    const samplingInterval = HEAP_INTERVAL_BYTES;
    yield* until(session.post('HeapProfiler.enable'));
    yield* until(session.post('HeapProfiler.startSampling', { samplingInterval }));
    yield delay(seconds * 1_000, undefined, { signal });
    if (collect) yield* until(session.post('HeapProfiler.collectGarbage'));
    return (yield* until(session.post('HeapProfiler.stopSampling'))).profile;
  });
}

function* inspect<T>(run: (session: Session) => Steps<T>): Steps<T> {
  const session = new Session();
  session.connect();
  try {
    return yield* run(session);
  } finally {
    session.disconnect();
  }
}
