import { setting } from './setting';
import { oneOfInAnyCase } from '../platform/env-table/scalars';

const LEVELS = {
  trace: 'trace',
  debug: 'debug',
  info: 'info',
  warning: 'warning',
  warn: 'warning',
  error: 'error',
  fatal: 'fatal',
  panic: 'fatal',
} as const;

export const loggingTable = {
  level: setting('LOG_LEVEL', oneOfInAnyCase(LEVELS), {
    default: 'warning',
    doc: 'lowest level that is logged: trace, debug, info, warning (warn), error, fatal (panic)',
  }),
  format: setting('LOG_FORMAT', oneOfInAnyCase({ text: 'text', json: 'json' }), {
    default: 'text',
    doc: 'text or json',
  }),
};
