import { originText, type ZoneOrigin } from '../../core/windows/zone-data';
import type { Settings } from '../../settings/settings';
import { openZones, type Zones } from '../../zoneinfo/open-zones';
import type { OutageLog } from '../outage-log';

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
