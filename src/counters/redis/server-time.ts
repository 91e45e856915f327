import { type RedisConnection } from './connection';

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
