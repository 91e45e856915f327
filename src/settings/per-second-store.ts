import { boolean } from '../platform/env-table/booleans';
import { setting } from '../platform/env-table/setting';
import { formerNames } from './former-names';
import { storeTable } from './store';

const ENABLED = 'KVSTORE_PERSECOND';

export const perSecondSwitchTable = {
  enabled: setting(ENABLED, boolean, {
    default: 'false',
    aliases: formerNames(ENABLED),
    doc: 'true keeps the counters of limits per second in a store of their own',
  }),
};

export const perSecondStoreTable = storeTable('KVSTORE_PERSECOND');
