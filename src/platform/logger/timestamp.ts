/** Beyond this the time of day was set, and the monotonic clock is anchored to it again. */
const MAX_DRIFT_NS = 2_000_000n;
/** Between two clock reads that are further apart another process ran. */
const MAX_APART_NS = 1_000_000n;
const NS_PER_MS = 1_000_000n;

/** Unix nanoseconds: the time of day, with the finer digits of the monotonic clock. */
export function createNanoClock(): () => bigint {
  let offset = readOffset();
  return () => {
    const monotonic = process.hrtime.bigint();
    const wall = BigInt(Date.now()) * NS_PER_MS;
    if (isDrift(monotonic + offset - wall)) {
      // Also when the process waited for a processor between the two reads.
      const fresh = readOffset();
      if (isDrift(offset - fresh)) offset = fresh;
    }
    return monotonic + offset;
  };
}

/** The offset of the monotonic clock, from two reads at one moment. */
function readOffset(): bigint {
  for (;;) {
    const before = process.hrtime.bigint();
    const wall = BigInt(Date.now()) * NS_PER_MS;
    const after = process.hrtime.bigint();
    if (after - before < MAX_APART_NS) return wall - before;
  }
}

function isDrift(ns: bigint): boolean {
  return ns > MAX_DRIFT_NS || ns < -MAX_DRIFT_NS;
}

/** RFC 3339 in UTC with nine digits of a second. */
export function toTimestamp(nanoseconds: bigint): string {
  const milliseconds = Number(nanoseconds / NS_PER_MS);
  const rest = (nanoseconds % NS_PER_MS).toString().padStart(6, '0');
  return new Date(milliseconds).toISOString().replace('Z', `${rest}Z`);
}
