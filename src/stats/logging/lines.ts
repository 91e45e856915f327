import { logfmtValue } from '../../platform/logger/logfmt';
import type { Change } from '../changes';
import { countOf, quantile, type Sample } from '../histogram';
import type { Naming } from '../naming';
import type { Line } from '../push';

/** What a line says of a change after its name; a gauge that stands still says nothing. */
type Describe = (change: Change) => string | undefined;

/**
 * One line for each changed statistic, in the shape of the text log:
 * `time="…" type=counter name=ratelimit.service.config_load_success delta=1 total=4`.
 */
export function createLogLines(
  now: () => Date,
  naming: Naming,
): (change: Change) => Iterable<Line> {
  const describe = createDescribe();
  return (change) => {
    const values = describe(change);
    if (values === undefined) return [];
    const time = logfmtValue(now().toISOString());
    const name = logfmtValue(naming(change.name).name);
    const text = `time=${time} type=${change.kind} name=${name} ${values}`;
    return [{ text, change }];
  };
}

function createDescribe(): Describe {
  const gauges = new Map<string, number>();
  return (change) => {
    switch (change.kind) {
      case 'counter':
        return `delta=${change.delta.toString()} total=${change.total.toString()}`;
      case 'gauge':
        if (gauges.get(change.name) === change.value) return undefined;
        gauges.set(change.name, change.value);
        return `value=${change.value.toString()}`;
      case 'timer':
        return describeTimer(change.samples);
    }
  };
}

function describeTimer(samples: readonly Sample[]): string {
  const at = (share: number) => Number(quantile(samples, share).toPrecision(4)).toString();
  const count = countOf(samples).toString();
  return `count=${count} p50=${at(0.5)} p90=${at(0.9)} p99=${at(0.99)} max=${at(1)}`;
}
