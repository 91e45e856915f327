import { originText, type ZoneOrigin, type ZoneSource } from '../../core/windows/zone-data';
import type { Settings } from '../../settings/settings';
import { openZones, type Zones } from '../../zoneinfo/open-zones';
import type { OutageLog } from '../outage-log';
import { EMPTY, map, merge, timer, type Observable } from 'rxjs';
import { createStopSignal, exhaustLatest, fromTask, type Snapshot } from '../../../streams';
import type { Statistics } from '../../core/ports';
import type { Rules } from '../../core/rules/rules';
import type { VersionNote } from '../../counters/redis/notes';
import { toReason } from '../../platform/errors';
import type { Logger } from '../../platform/logger';
import { byRelease, releaseNumber } from '../../zoneinfo/zone-files';

/** The time zones of this process; an unusable file is reported in the log and on the page. */
export function openTimeZones(
  { timeZones: { folder } }: Pick<Settings, 'timeZones'>,
  outages: Pick<OutageLog, 'failed'>,
): Zones {
  return openZones({
    folder,
    onRefused({ file, reason }) {
      const lines = {
        level: 'error',
        failing: `the time zone file ${file} cannot be used, older data serve in its place`,
        isEachLogged: true,
        ended: `the time zone file ${file} can be used again`,
      } as const;
      outages.failed(`time zone file ${file}`, lines, { reason });
    },
  });
}

/** The available data, the newest first, for the first line of the log: `2026f of Weir (not 2025c of Node, …)`. */
export function describeTimeZones(origins: readonly ZoneOrigin[]): string {
  const [used, ...others] = origins.map(originText);
  return others.length === 0 ? String(used) : `${String(used)} (not ${others.join(', ')})`;
}

interface WatchTimeZonesDeps {
  readonly rules: Pick<Snapshot<Rules | undefined>, 'current' | 'changes$'>;
  /** CACHE_KEY_PREFIX. */
  readonly keyPrefix: string;
  /** Undefined: the store is not shared with other instances, or cannot hold notes. */
  readonly noteVersions: ((note: VersionNote) => Promise<readonly string[]>) | undefined;
  readonly connected$: Observable<boolean>;
  readonly statistics: Pick<Statistics, 'gauge'>;
  readonly outages: Pick<OutageLog, 'failed' | 'succeeded' | 'removed'>;
  readonly logger: Logger;
}

const EVERY_MS = 60_000;
/** Covers several intervals: a note outlives a failed one, and expires soon after the last instance that wrote it. */
const TTL_SECONDS = 300;

/** The name of the outage. */
const TIME_ZONES = 'time zones';
const LINES = {
  level: 'error',
  failing:
    'instances on this store follow other time zone data: where their calendar periods end at other times, limits count twice',
  ended: 'all instances on this store follow the same time zone data again',
} as const;

const GAUGES = 'weir.time_zone_data';
const SOURCE_NUMBERS: Readonly<Record<ZoneSource, number>> = { runtime: 1, system: 2, package: 3 };

/**
 * Reports which time zone data the calendars of the rules follow, and compares them with those of other instances: with other data,
 * windows begin at other times. Rules without calendars cost nothing and show nothing.
 */
export function watchTimeZones(deps: WatchTimeZonesDeps) {
  const { rules, keyPrefix, noteVersions, connected$, statistics, outages, logger } = deps;
  const stopping = createStopSignal();
  let removeGauges: (() => void)[] = [];
  let isMismatch = false;

  const showGauges = (): void => {
    const isUsed = originsOf(rules.current).length > 0;
    if (isUsed === removeGauges.length > 0) return;
    for (const remove of removeGauges.splice(0)) remove();
    if (!isUsed) return;
    // The oldest in use: the one to update.
    const oldest = (): ZoneOrigin | undefined => originsOf(rules.current).at(-1);
    const gauge = (name: string, read: () => number) => statistics.gauge(`${GAUGES}.${name}`, read);
    removeGauges = [
      gauge('release', () => releaseNumber(oldest()?.release)),
      gauge('source', () => SOURCE_NUMBERS[oldest()?.source ?? 'runtime']),
      gauge('mismatch', () => (isMismatch ? 1 : 0)),
    ];
  };
  const judge = (used: readonly ZoneOrigin[], noted: readonly string[]): void => {
    const own = releasesOf(used);
    const others = noted.filter((release) => !own.includes(release));
    isMismatch = others.length > 0;
    if (!isMismatch) {
      outages.succeeded(TIME_ZONES);
      return;
    }
    const [, ...older] = [...own, ...others].sort().reverse();
    const here = used.map(originText).join(' and ');
    const reason = `here ${here}, elsewhere ${others.join(' and ')}: update the instances with ${older.join(' and ')}`;
    outages.failed(TIME_ZONES, LINES, { reason });
  };
  const check = async (ask: NonNullable<typeof noteVersions>, signal: AbortSignal) => {
    const used = comparedOrigins(rules.current);
    if (used.length === 0) {
      isMismatch = false;
      outages.removed(TIME_ZONES);
      return;
    }
    const note = { key: `${keyPrefix}weir:time_zones`, ttlSeconds: TTL_SECONDS };
    try {
      const noted = await ask({ ...note, versions: releasesOf(used) });
      if (!signal.aborted) judge(used, noted);
    } catch (error) {
      const what = 'time zone data could not be compared with other instances';
      logger.debug(what, { reason: toReason(error) });
    }
  };
  const due$ = merge(rules.changes$.pipe(map(() => true)), connected$, timer(EVERY_MS, EVERY_MS));
  return {
    run$: due$.pipe(
      exhaustLatest((due) => {
        showGauges();
        if (due === false || noteVersions === undefined) return EMPTY;
        return fromTask<never>((signal) => check(noteVersions, signal) as Promise<undefined>);
      }),
      stopping.until(),
    ),
    close() {
      stopping.stop();
      for (const remove of removeGauges.splice(0)) remove();
    },
  };
}

/** The time zone data of the rules' calendars, for people; undefined: there are none. */
export function timeZoneDataText(rules: Rules | undefined): string | undefined {
  const origins = originsOf(rules);
  return origins.length === 0 ? undefined : origins.map(originText).join(' and ');
}

function originsOf(rules: Rules | undefined): readonly ZoneOrigin[] {
  return distinct([...(rules?.zones?.values() ?? [])].map(({ origin }) => origin));
}

/** Zones that instances compare; UTC is equal in all data. */
export function comparedOrigins(rules: Rules | undefined): readonly ZoneOrigin[] {
  const zones = [...(rules?.zones ?? [])].filter(([name]) => name !== 'UTC');
  return distinct(zones.map(([, { origin }]) => origin));
}

/** The newest first. */
function distinct(origins: readonly ZoneOrigin[]): readonly ZoneOrigin[] {
  return [...new Map(origins.map((one) => [originText(one), one])).values()].sort(byRelease);
}

function releasesOf(origins: readonly ZoneOrigin[]): readonly string[] {
  return [...new Set(origins.map(({ release = 'unknown' }) => release))];
}
