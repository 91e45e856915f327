import type { FindZone } from '../core/windows/zone-data';
import { openZones, type Zones } from './open-zones';

/** The service's zones, for a command; nothing is read before first use. */
export function zonesOfTool({ env, stderr }: Pick<NodeJS.Process, 'env' | 'stderr'>): FindZone {
  let zones: Zones | undefined;
  return (timeZone) => {
    zones ??= openZones({
      folder: env['TZDIR'] === '' ? undefined : env['TZDIR'],
      onRefused({ file, reason }) {
        stderr.write(`warning: the time zone file ${file} cannot be used: ${reason}\n`);
      },
    });
    return zones.find(timeZone);
  };
}
