import { writeSync } from 'node:fs';
import { startStopwatch } from './core-time';
import { eventually, type EventuallyOptions } from './eventually';

/** What a test measures, and what it must stay below on a machine that does nothing else. */
export interface Figure {
  readonly name: string;
  readonly value: number;
  readonly unit: 'ms' | 's' | 'MB' | 'kB' | 'times';
  readonly below: number;
}

/** Set by jest.siege.config.cjs alone. */
export const { isSiege = false } = globalThis as { readonly isSiege?: boolean };

const STANDARD_OUTPUT = 1;

/**
 * Prints a figure with its bound and fails the test when it misses or was not measured, in `npm run siege`. In `npm test` it does nothing:
 * that has to say the same on a slow machine.
 */
export function expectFigure({ name, value, unit, below }: Figure): void {
  if (!isSiege) return;
  // A ratio of times that is not above 0 was not measured.
  const isMet = value < below && (unit !== 'times' || value > 0);
  const test = expect.getState().currentTestName ?? '';
  const words = `${value.toPrecision(3)} ${unit}, bound ${String(below)} ${unit}`;
  writeSync(STANDARD_OUTPUT, `${isMet ? 'ok    ' : 'MISSED'} ${test}: ${name}: ${words}\n`);
  if (!isMet) throw new Error(`${name}: ${words}`);
}

export interface WithinOptions extends Omit<EventuallyOptions, 'withinMs'> {
  readonly name: string;
  readonly belowMs: number;
}

/** Runs `check` until it stops throwing, and takes the time until then as a figure. */
export async function eventuallyWithin<T>(
  check: () => T | Promise<T>,
  { name, belowMs, ...options }: WithinOptions,
): Promise<T> {
  const elapsedMs = startStopwatch(...(options.of ?? []));
  const result = await eventually(check, options);
  expectFigure({ name, value: elapsedMs(), unit: 'ms', below: belowMs });
  return result;
}
