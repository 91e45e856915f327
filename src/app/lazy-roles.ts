/* eslint-disable @typescript-eslint/no-require-imports -- a process loads only what it is: less to load is a sooner start, and less memory */
import type * as RunAlone from './run-alone';
import type * as RunOwner from './workers/run-owner';
import type * as RunWorker from './workers/run-worker';

/** What a process can be: the only one, the owner of several workers, or one of these. */
export const lazyRoles = {
  alone: () => require('./run-alone') as typeof RunAlone,
  owner: () => require('./workers/run-owner') as typeof RunOwner,
  worker: () => require('./workers/run-worker') as typeof RunWorker,
};
