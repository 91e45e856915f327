/** Counters and gauges of a service by name. */
export async function readStatistics({
  debug,
}: {
  /** The URL of the debug port. */
  readonly debug: string;
}): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(`${debug}/stats?format=json`);
  const { counters, gauges } = (await response.json()) as Record<
    'counters' | 'gauges',
    Readonly<Record<string, number>>
  >;
  return new Map([...Object.entries(counters), ...Object.entries(gauges)]);
}
