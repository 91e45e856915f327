const MILLISECONDS: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 0.001,
  n: 0.000_001,
};

/** Reads `grpc-timeout` (at most eight digits and a unit) as milliseconds; undefined when it is none. */
export function parseTimeout(text: string): number | undefined {
  const parts = /^(\d{1,8})([HMSmun])$/.exec(text);
  if (parts === null) return undefined;
  return Number(parts[1]) * (MILLISECONDS[parts[2] as string] as number);
}
