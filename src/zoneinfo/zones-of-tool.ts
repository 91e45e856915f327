import type { ZoneLookup } from '../core/windows/zone-data';
import { openZones } from './open-zones';

/** The service's zones, for a command; nothing is read before first use. */
export function zonesOfTool({ env, stderr }: Pick<NodeJS.Process, 'env' | 'stderr'>): ZoneLookup {
  let zones: ZoneLookup | undefined;
  const opened = (): ZoneLookup =>
    (zones ??= openZones({
      folder: env['TZDIR'] === '' ? undefined : env['TZDIR'],
      onRefused({ file, reason }) {
        stderr.write(`warning: the time zone file ${file} cannot be used: ${reason}\n`);
      },
    }));
  return {
    find: (timeZone) => opened().find(timeZone),
    has: (timeZone) => opened().has(timeZone),
  };
}
