import { freePort } from '../support/free-port';
import { parseExposition } from '../support/parse-exposition';
import type { Scenario } from './scenario';

/** A port for a scenario that recorded a scrape. */
export async function scrapeSettings({
  pull,
}: Scenario): Promise<Readonly<Record<string, string>>> {
  if (pull === undefined) return {};
  return { DISABLE_STATS: 'false', PROMETHEUS_ADDR: `127.0.0.1:${String(await freePort())}` };
}

/** Scrapes and compares what is not zero, without buckets and sums, and the types of what was recorded. */
export async function expectScrape(
  { pull, settings }: Scenario,
  { PROMETHEUS_ADDR: address }: Readonly<Record<string, string>>,
): Promise<void> {
  if (pull === undefined || address === undefined) return;
  const answer = await fetch(`http://${address}${settings['PROMETHEUS_PATH'] ?? '/metrics'}`);
  const { samples, types } = parseExposition(await answer.text(), 'text');
  const isCompared = ([key, value]: readonly [string, number]) =>
    value !== 0 &&
    // A time of day, which the recording leaves out.
    key !== 'ratelimit_localcache_averageAccessTime' &&
    /^ratelimit_(?:service|localcache)_/.test(key) &&
    !/_(?:bucket|sum)(?:\{|$)/.test(key);
  expect(Object.fromEntries([...samples].filter(isCompared))).toEqual(
    Object.fromEntries(Object.entries(pull.samples).filter(isCompared)),
  );
  for (const [name, type] of Object.entries(pull.types))
    expect([name, types.get(name)]).toEqual([name, type]);
}
