import { path } from '../platform/env-table/scalars';
import { setting } from './setting';

export const secretsTable = {
  keysFile: setting('SECRET_KEYS_FILE', path, {
    doc: 'file of the keys under which hash_value: true hides secret values (docs/secrets.md), watched',
    whenUnset: 'rules with hash_value: true are refused',
  }),
};
