import { boolean } from '../platform/env-table/booleans';
import { setting, type Values } from '../platform/env-table/setting';
import { headerName } from '../platform/env-table/texts';

export const responseHeadersTable = {
  enabled: setting('LIMIT_RESPONSE_HEADERS_ENABLED', boolean, {
    default: 'false',
    doc: 'true adds the headers below to the answers',
  }),
  limit: setting('LIMIT_LIMIT_HEADER', headerName, {
    default: 'RateLimit-Limit',
    doc: 'header with the limit',
  }),
  remaining: setting('LIMIT_REMAINING_HEADER', headerName, {
    default: 'RateLimit-Remaining',
    doc: 'header with the requests that remain',
  }),
  reset: setting('LIMIT_RESET_HEADER', headerName, {
    default: 'RateLimit-Reset',
    doc: 'header with the seconds until the window ends',
  }),
};

export type ResponseHeaderSettings = Values<typeof responseHeadersTable>;
