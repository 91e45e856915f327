import type { Observable } from 'rxjs';
import { createSnapshot, createStopSignal, fromTask, regain } from '../../../streams';
import type { Clock, Random } from '../../core/ports';
import type { RedisEvent } from './options';
import type { RedisConnection } from './connection';

/** By EVAL, which the server is known to accept: a proxy that does not know TIME may close the connection. */
export const TIME_SCRIPT = "return redis.call('TIME')";

/** Microseconds by the clock of the server; undefined: it refuses scripts, may not read its clock, or is unreachable. Never rejects. */
export async function readServerMicros(
  connection: RedisConnection | undefined,
): Promise<number | undefined> {
  if (connection?.usesScripts !== true) return undefined;
  try {
    return microsOf(await connection.client.call('EVAL', TIME_SCRIPT, '0'));
  } catch {
    return undefined;
  }
}

function microsOf(answer: unknown): number | undefined {
  if (!Array.isArray(answer)) return undefined;
  const [seconds, micros] = (answer as readonly unknown[]).map(Number);
  const sum = Number(seconds) * 1_000_000 + Number(micros);
  return Number.isSafeInteger(sum) ? sum : undefined;
}

export interface ServerClockDeps {
  readonly store: string;
  readonly clock: Clock;
  readonly monotonicMs: () => number;
  readonly random: Random;
  readonly onEvent?: ((event: RedisEvent) => void) | undefined;
  /** The least difference of the clocks in seconds; 0 within the duration of the call. */
  readonly onDifference: (seconds: number) => void;
  /** Microseconds by the clock of the server; undefined: unavailable. Never rejects. */
  readonly readMicros: () => Promise<number | undefined>;
}

/** Clocks that NTP keeps differ by milliseconds. */
const TOLERATED_SECONDS = 2;

const REPORT_MS = 10_000;

/** The jitter keeps the instances of a service from polling in step. */
const ASK_AGAIN = { initialMs: REPORT_MS, maxMs: REPORT_MS, factor: 1, jitter: 0.1 };

export interface ServerClock {
  /** A call sent at this time, by our clock, was answered; the server read its clock in between. */
  readonly note: (serverMicros: number, sentSeconds: number) => void;
  /** Reads the server's clock: calls for plain rules do not report it. */
  readonly compare: () => void;
  /** Polls while the clocks differ, and while it is subscribed to. Completes after `close`. */
  readonly run$: Observable<never>;
  close(): void;
}

/** Reports when the clock of one server and ours differ by seconds, and when they agree again. */
export function createServerClock(deps: ServerClockDeps): ServerClock {
  const { store, clock, monotonicMs, random, onEvent, onDifference, readMicros } = deps;
  const isAstray = createSnapshot(false);
  const stopped = createStopSignal();
  let reportedMs = -Infinity;
  let isReported = false;
  let isClosed = false;

  const agree = (): void => {
    if (!isAstray.current) return;
    isAstray.set(false);
    if (isReported) onEvent?.({ kind: 'clock-agrees', store });
    isReported = false;
  };
  const differ = (seconds: number): void => {
    if (!isAstray.current) isAstray.set(true);
    const nowMs = monotonicMs();
    if (nowMs - reportedMs < REPORT_MS) return;
    reportedMs = nowMs;
    isReported = true;
    onEvent?.({ kind: 'clock-differs', store, reason: reasonOf(seconds) });
  };
  const note = (serverMicros: number, sentSeconds: number): void => {
    if (isClosed) return;
    const seconds = differenceOf(serverMicros / 1_000_000, sentSeconds, clock());
    onDifference(Math.abs(seconds));
    if (Math.abs(seconds) > TOLERATED_SECONDS) differ(seconds);
    else agree();
  };
  /** Returns whether the clocks agree. */
  const ask = async (): Promise<boolean> => {
    const sentSeconds = clock();
    const serverMicros = await readMicros();
    if (serverMicros !== undefined) note(serverMicros, sentSeconds);
    return !isAstray.current;
  };

  return {
    note,
    compare: () => void ask(),
    run$: regain({
      isLost$: isAstray.changes$,
      ask: () => fromTask(ask),
      backoff: ASK_AGAIN,
      random,
      onRegained: agree,
    }).pipe(stopped.until()),
    close() {
      isClosed = true;
      stopped.stop();
      isAstray.close();
    },
  };
}

/** Above 0 where the server is ahead: seconds beyond the duration of the call, in which it may have read its clock at any time. */
function differenceOf(serverSeconds: number, sentSeconds: number, receivedSeconds: number): number {
  if (serverSeconds < sentSeconds) return serverSeconds - sentSeconds;
  return Math.max(0, serverSeconds - receivedSeconds);
}

function reasonOf(seconds: number): string {
  const side = seconds > 0 ? 'ahead of' : 'behind';
  return `its clock is ${Math.abs(seconds).toFixed(1)} s ${side} ours`;
}
