import { isIPv4 } from 'node:net';
import { boolean, oneOf, path, word, listOf } from '../platform/env-table/parsers';
import type { TableReading } from '../platform/env-table/table';
import { optional, setting } from './setting';

/** The operator API on the debug port, and its callers. */
export const adminTable = {
  api: setting('ADMIN_API', oneOf('off', 'read', 'write'), 'read', {
    doc: 'what /api/v1/ on the debug port does: nothing, explain and show, or also change counters',
  }),
  tokenFile: optional('ADMIN_TOKEN_FILE', path, 'no token is required', {
    doc: 'file with the token that /api/v1/ requires; read again when it changes',
  }),
  protectAll: setting('ADMIN_PROTECT_ALL', boolean, 'false', {
    doc: 'true requires the token on every page of the debug port',
  }),
  hosts: optional('ADMIN_HOSTS', listOf(word, '<host>'), 'unset', {
    doc: 'further names under which browsers may use the debug port and /api/v1/, with commas',
  }),
};

/** Without a token, counters may be changed only from this machine. */
export function toAdmin(reading: TableReading<typeof adminTable>, debugHost: string) {
  const { api, tokenFile, protectAll, hosts = [] } = reading.values;
  if (api === 'write' && tokenFile === undefined && !isLoopback(debugHost)) {
    reading.problem(
      `${reading.describe('api')} lets everybody who reaches DEBUG_HOST=${JSON.stringify(debugHost)} change counters: ` +
        'expected ADMIN_TOKEN_FILE to be set, or DEBUG_HOST=127.0.0.1',
    );
  }
  if (protectAll && tokenFile === undefined) {
    reading.refuse('protectAll', 'ADMIN_TOKEN_FILE to be set');
  }
  return { ...reading.values, hosts };
}

export type AdminSettings = ReturnType<typeof toAdmin>;

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIPv4(host) && host.startsWith('127.'));
}
