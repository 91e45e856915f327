/* eslint-disable @typescript-eslint/no-require-imports -- a single process loads nothing of it */
import type * as RunOwner from './run-owner';
import type * as RunWorker from './run-worker';

/** What only a service of several workers needs. */
export const lateWorkers = {
  runOwner: () => require('./run-owner') as typeof RunOwner,
  runWorker: () => require('./run-worker') as typeof RunWorker,
};
