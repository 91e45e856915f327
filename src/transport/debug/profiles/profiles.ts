import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '../../../core/ports';
import { until, type Steps } from '../../../core/steps';
import { readCpuProfile } from './cpu-profile';
import { readHeapProfile } from './heap-profile';
import { takeCpuProfile, takeHeapProfile } from './inspect';
import { printV8 } from './print-v8';
import { toPprof } from './to-pprof';

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
