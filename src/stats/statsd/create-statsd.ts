import {
  createPushOutput,
  type FlushOptions,
  type Line,
  type PushOutput,
  type Change,
  createChanges,
} from '../push-output';
import { countOf, type Sample } from '../histogram';
import type { Naming, WrittenName } from '../names';
import type { Registry } from '../registry';
import { createTcpSink, createUdpSink, type StatsdTarget } from './sinks';

export interface StatsdOptions extends FlushOptions, StatsdTarget {
  readonly protocol: 'tcp' | 'udp';
  readonly naming: Naming;
}

/** Statistics to a StatsD server. An unreachable or slow one loses no counts. */
export function createStatsd(registry: Registry, options: StatsdOptions): PushOutput {
  const sink = options.protocol === 'tcp' ? createTcpSink(options) : createUdpSink(options);
  const toLines = (change: Change) => statsdLines(change, options.naming);
  return createPushOutput({ changes: createChanges(registry), sink, toLines }, options);
}

/** Above this many samples in one flush a timer is sent by bucket, with a sample rate. */
const MAX_SINGLE_SAMPLES = 1000;

type TimerChange = Extract<Change, { kind: 'timer' }>;

/**
 * The StatsD lines of a change: `name:3|c`, `name:7|g`, `name:0.42|ms`, `name:0.42|ms|@0.001`, each with the tags of its name at
 * the end.
 */
export function* statsdLines(change: Change, naming: Naming): Generator<Line, void> {
  const written = naming(change.name);
  switch (change.kind) {
    case 'counter':
      yield { text: lineOf(written, change.delta.toString(), 'c'), change };
      return;
    case 'gauge':
      yield { text: gaugeLine(written, change.value), change };
      return;
    case 'timer':
      yield* timerLines(written, change);
  }
}

function lineOf({ name, suffix }: WrittenName, value: string, type: string): string {
  return `${name}:${value}|${type}${suffix}`;
}

/** A gauge with a sign is a change of the gauge in StatsD; only one that starts from 0 can become negative. */
function gaugeLine(written: WrittenName, value: number): string {
  const line = lineOf(written, value.toString(), 'g');
  return value < 0 ? `${lineOf(written, '0', 'g')}\n${line}` : line;
}

function* timerLines(written: WrittenName, change: TimerChange): Generator<Line, void> {
  const bySample = countOf(change.samples) <= MAX_SINGLE_SAMPLES;
  for (const sample of change.samples) {
    const rate = bySample ? '' : rateSuffix(sample.times);
    const text = lineOf(written, milliseconds(sample), `ms${rate}`);
    if (bySample) yield* singleLines(text, change, sample);
    else yield { text, change: { ...change, samples: [sample] } };
  }
}

/** Four digits are the precision of a bucket. */
function milliseconds(sample: Sample): string {
  return Number(sample.milliseconds.toPrecision(4)).toString();
}

function* singleLines(text: string, change: TimerChange, sample: Sample): Generator<Line, void> {
  const single: TimerChange = { ...change, samples: [{ ...sample, times: 1 }] };
  for (let n = 0; n < sample.times; n += 1) yield { text, change: single };
}

function rateSuffix(times: number): string {
  return times === 1 ? '' : `|@${sampleRate(times).toString()}`;
}

/** The rate whose inverse is `times`, never slightly less: some servers truncate the inverse to a whole number. */
function sampleRate(times: number): number {
  const rate = 1 / times;
  return 1 / rate < times ? rate * (1 - Number.EPSILON) : rate;
}
