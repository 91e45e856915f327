import type { HeapProfiler, Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { until, type Steps } from '../../../core/steps';
import { CPU_INTERVAL_MICROSECONDS } from './cpu-profile';
import { HEAP_INTERVAL_BYTES } from './heap-profile';

/** Runs V8's CPU profiler on this process. An abort ends it at once and throws. V8 makes its answer, and we read it, in one step. */
export function takeCpuProfile(seconds: number, signal: AbortSignal): Steps<Profiler.Profile> {
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
export function takeHeapProfile(
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
