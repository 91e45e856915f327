import { path } from '../platform/env-table/scalars';
import { setting } from './setting';

export const checkTable = {
  config: setting('CHECK_CONFIG', path, {
    doc: 'file of /check and /quota, or directory of files for /check/<name>; watched and reloaded',
    whenUnset: 'these are not served',
  }),
};
