import type { NotBuiltYet, Setting } from './setting';

interface Lists {
  readonly problems: string[];
  readonly warnings: string[];
}

function stops(mark: NotBuiltYet): boolean {
  return mark === 'stops' || (typeof mark === 'object' && 'stopsFor' in mark);
}

function valuesOf(mark: NotBuiltYet): readonly unknown[] | undefined {
  if (typeof mark === 'string') return undefined;
  return 'stopsFor' in mark ? mark.stopsFor : mark.warnsFor;
}

/** Says that the feature behind a value is not built; `shown` is the setting with its value. */
export function notBuiltFinding(
  entry: Setting<unknown>,
  value: unknown,
  shown: string,
  findings: Lists,
): void {
  const mark = entry.notBuiltYet;
  if (mark === undefined || valuesOf(mark)?.includes(value) === false) return;
  if (stops(mark)) findings.problems.push(`${shown}: not built yet in this version`);
  else findings.warnings.push(`${shown} has no effect: not built yet in this version`);
}

/** What the help says of a setting that is not built; undefined when it is. */
export function notBuiltText(entry: Setting<unknown>): string | undefined {
  const mark = entry.notBuiltYet;
  if (mark === undefined) return undefined;
  const values = valuesOf(mark);
  const what = values === undefined ? 'not built yet' : `not built yet: ${values.join(', ')}`;
  return stops(mark) ? `${what} (stops the start)` : what;
}
