import type { Reading } from '../platform/env-table/read-table';
import type { Table } from '../platform/env-table/setting';

/** Reads a table of settings from the environment; what is wrong goes to the findings of the whole. */
export type Read = <T extends Table>(table: T) => Reading<T>;
