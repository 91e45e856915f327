import type { Random } from '../../../core/ports';
import { ErrorCode } from '../../../wire/http2/frames';
import {
  type WireConnection,
  BLOCKED_MS,
  DRAIN_PING_MS,
  HALF_CLOSED_MS,
  KEEPALIVE_MS,
  KEEPALIVE_TIMEOUT_MS,
  LINGER_MS,
  PREFACE_MS,
  SETTINGS_ACK_MS,
} from './connection';

/** Maximum age of connections; undefined: no maximum. */
export interface AgePolicy {
  readonly maxConnectionAgeMs?: number | undefined;
  readonly maxConnectionAgeGraceMs?: number | undefined;
}

/** Marks a keepalive PING; its answer counts like any other bytes. */
const KEEPALIVE_MARK = 1;

export function createConnectionMonitor(
  connection: WireConnection,
  { maxConnectionAgeMs = Infinity, maxConnectionAgeGraceMs = Infinity }: AgePolicy,
  random: Random,
) {
  const { grpc, openedAtMs } = connection;
  const { http2 } = grpc;
  // Within 10 % of the age, so that connections opened together do not leave together.
  const leavesAtMs = openedAtMs + maxConnectionAgeMs * (0.9 + 0.2 * random());
  let drainedAtMs: number | undefined;
  let pingedAtMs = 0;

  const drain = (nowMs: number, reason: string) => {
    if (drainedAtMs !== undefined) return;
    drainedAtMs = nowMs;
    http2.startDrain(reason);
    connection.flush();
  };

  const isGone = (nowMs: number) =>
    isOver(nowMs, connection.endedAtMs, LINGER_MS) ||
    isOver(nowMs, connection.halfClosedAtMs, HALF_CLOSED_MS) ||
    isOver(nowMs, connection.blockedSinceMs, BLOCKED_MS) ||
    (!http2.prefaceReceived && isOver(nowMs, openedAtMs, PREFACE_MS)) ||
    nowMs >= leavesAtMs + maxConnectionAgeGraceMs;

  const keepAlive = (nowMs: number) => {
    const isAnswered = pingedAtMs <= connection.readAtMs;
    if (!isAnswered && isOver(nowMs, pingedAtMs, KEEPALIVE_TIMEOUT_MS)) connection.destroy();
    else if (isAnswered && isOver(nowMs, connection.readAtMs, KEEPALIVE_MS)) {
      pingedAtMs = nowMs;
      http2.ping(KEEPALIVE_MARK);
    }
  };

  return {
    check(nowMs: number) {
      if (isGone(nowMs)) {
        connection.destroy();
        return;
      }
      http2.tick(nowMs);
      if (!http2.settingsAcked && isOver(nowMs, openedAtMs, SETTINGS_ACK_MS)) {
        http2.goAway(ErrorCode.settingsTimeout, 'the SETTINGS were not acknowledged');
      }
      keepAlive(nowMs);
      if (nowMs >= leavesAtMs) drain(nowMs, 'max_age');
      if (isOver(nowMs, drainedAtMs, DRAIN_PING_MS)) http2.finishDrain();
      connection.flush();
    },
    /** Asks the client to leave once it has its answers. */
    drain,
  };
}

/** Time limits, keepalive and age of a connection; one timer checks all connections. */
export type ConnectionMonitor = ReturnType<typeof createConnectionMonitor>;

function isOver(nowMs: number, sinceMs: number | undefined, limitMs: number): boolean {
  return sinceMs !== undefined && nowMs - sinceMs >= limitMs;
}
