/** Beyond this the time of day was set, and the monotonic clock is anchored to it anew. */
const MAX_DRIFT_NS = 2_000_000n;
const NS_PER_MS = 1_000_000n;

/** Unix nanoseconds: the time of day, with the finer digits of the monotonic clock. */
export function createNanoClock(): () => bigint {
  let offset = 0n;
  return () => {
    const monotonic = process.hrtime.bigint();
    const wall = BigInt(Date.now()) * NS_PER_MS;
    const drift = monotonic + offset - wall;
    if (drift > MAX_DRIFT_NS || drift < -MAX_DRIFT_NS) offset = wall - monotonic;
    return monotonic + offset;
  };
}

/** RFC 3339 in UTC with nine digits of a second. */
export function toTimestamp(nanoseconds: bigint): string {
  const milliseconds = Number(nanoseconds / NS_PER_MS);
  const rest = (nanoseconds % NS_PER_MS).toString().padStart(6, '0');
  return new Date(milliseconds).toISOString().replace('Z', `${rest}Z`);
}
