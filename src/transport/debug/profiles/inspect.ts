import { Session, type HeapProfiler, type Profiler } from 'node:inspector';
import { setTimeout as delay } from 'node:timers/promises';
import { until, type Steps } from '../../../core/steps';
import { CPU_INTERVAL_MICROSECONDS } from './cpu-profile';
import { HEAP_INTERVAL_BYTES } from './heap-profile';

/** Runs V8's CPU profiler on this process. An abort ends it at once and throws. What V8 answers is made and read in one step. */
export function* takeCpuProfile(seconds: number, signal: AbortSignal): Steps<Profiler.Profile> {
  const session = new Session();
  session.connect();
  try {
    session.post('Profiler.enable');
    session.post('Profiler.setSamplingInterval', { interval: CPU_INTERVAL_MICROSECONDS });
    session.post('Profiler.start');
    yield delay(seconds * 1_000, undefined, { signal });
    const stopped = new Promise<Profiler.Profile>((resolve, reject) => {
      session.post('Profiler.stop', (error, result) => {
        if (error === null) resolve(result.profile);
        else reject(error);
      });
    });
    return yield* until(stopped);
  } finally {
    session.disconnect();
  }
}

/** Runs V8's sampling heap profiler on this process; `collect` runs a full garbage collection first. */
export function* takeHeapProfile(
  seconds: number,
  signal: AbortSignal,
  collect: boolean,
): Steps<HeapProfiler.SamplingHeapProfile> {
  const session = new Session();
  session.connect();
  try {
    session.post('HeapProfiler.enable');
    session.post('HeapProfiler.startSampling', { samplingInterval: HEAP_INTERVAL_BYTES });
    yield delay(seconds * 1_000, undefined, { signal });
    if (collect) session.post('HeapProfiler.collectGarbage');
    yield;
    const stopped = new Promise<HeapProfiler.SamplingHeapProfile>((resolve, reject) => {
      session.post('HeapProfiler.stopSampling', (error, result) => {
        if (error === null) resolve(result.profile);
        else reject(error);
      });
    });
    return yield* until(stopped);
  } finally {
    session.disconnect();
  }
}
