import { path } from '../platform/env-table/scalars';
import { setting } from './setting';

export const timeZonesTable = {
  folder: setting('TZDIR', path, {
    doc: 'folder of the TZif files of the system, which calendar periods follow where they are the newest (docs/rules.md)',
    whenUnset: '/usr/share/zoneinfo',
  }),
};
