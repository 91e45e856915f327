import { duration } from '../platform/env-table/durations';

/** A duration that becomes a timer of Node, which holds less than 25 days; 0 is allowed. */
export const timerFromZero = duration({ most: '576h' });

/** A duration that becomes a timer of Node and must not be 0. */
export const timer = duration({ least: '1ms', most: '576h' });
