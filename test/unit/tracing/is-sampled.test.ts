import fc from 'fast-check';
import { ROOT_CONTEXT, trace, type SpanContext } from '@opentelemetry/api';
import { W3CTraceContextPropagator } from '@opentelemetry/core';
import { B3Propagator } from '@opentelemetry/propagator-b3';
import { isSampledByCaller, UNSAMPLED_PLACEHOLDER } from '../../../src/tracing/is-sampled';
import { parentOf } from '../../../src/tracing/parent';
import type { SpanIds } from '../../../src/wire/otlp/shapes';
import { hex } from '../../support/library-spans';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const ids = `${TRACE}-${SPAN}`;

function of(...fields: readonly (readonly [string, string])[]) {
  return { names: fields.map(([name]) => name), values: fields.map(([, value]) => value) };
}

/** What OpenTelemetry's own propagators find; of a field that is there twice they take the last. */
function foundByLibrary({ names, values }: ReturnType<typeof of>) {
  const carrier = new Map(names.map((name, i) => [name, values[i]]));
  const getter = {
    keys: () => [...carrier.keys()],
    get: (_: unknown, name: string) => carrier.get(name),
  };
  const find = (propagator: W3CTraceContextPropagator | B3Propagator) =>
    trace.getSpanContext(propagator.extract(ROOT_CONTEXT, carrier, getter));
  return find(new W3CTraceContextPropagator()) ?? find(new B3Propagator());
}

function toPlain({ traceId, spanId, traceState }: SpanContext) {
  return { traceId, spanId, traceState: traceState?.serialize() ?? '' };
}

function toFound(parent: SpanIds | undefined) {
  if (parent === undefined) return undefined;
  const { trace0, trace1, trace2, trace3, span0, span1, traceState } = parent;
  return { traceId: hex(trace0, trace1, trace2, trace3), spanId: hex(span0, span1), traceState };
}

describe('isSampledByCaller', () => {
  const traceparents: [value: string, decided: boolean | undefined][] = [
    [`00-${ids}-01`, true],
    [`00-${ids}-00`, false],
    [`00-${ids}-03`, true],
    [`00-${ids}-02`, false],
    [`00-0${TRACE.slice(1)}-${SPAN}-00`, false],
    [`01-${ids}-01-more`, true],
    [`01-${ids}-00`, false],
    [`00-${ids}-01-more`, undefined],
    [`ff-${ids}-01`, undefined],
    [`00-${'0'.repeat(32)}-${SPAN}-00`, undefined],
    [`00-${TRACE}-${'0'.repeat(16)}-01`, undefined],
    [`00-${TRACE.toUpperCase()}-${SPAN}-01`, undefined],
    ['00', undefined],
    ['', undefined],
  ];
  it.each(traceparents)('reads traceparent %s as %s', (value, decided) => {
    expect(isSampledByCaller(of([':path', '/'], ['traceparent', value]))).toBe(decided);
  });

  const b3s: [name: string, value: string, decided: boolean | undefined][] = [
    ['b3', `${ids}-1`, true],
    ['b3', `${ids}-d`, true],
    ['b3', `${ids}-0`, false],
    ['b3', `${ids}-1-${SPAN}`, true],
    ['b3', `${SPAN}-${SPAN}-1`, true],
    ['b3', ids, undefined],
    ['b3', '0', false],
    ['b3', 'd', true],
    ['x-b3-sampled', '1', true],
    ['x-b3-sampled', 'True', true],
    ['x-b3-sampled', '0', false],
    ['x-b3-sampled', 'constructor', undefined],
    ['x-b3-flags', '1', true],
    ['x-b3-flags', '0', undefined],
  ];
  it.each(b3s)('reads %s: %s as %s', (name, value, decided) => {
    expect(isSampledByCaller(of([name, value]))).toBe(decided);
  });

  it('takes W3C before B3, and B3 where there is no good traceparent', () => {
    const b3 = ['b3', '1'] as const;
    expect(isSampledByCaller(of(b3, ['traceparent', `00-${ids}-00`]))).toBe(false);
    expect(isSampledByCaller(of(['traceparent', 'nothing'], b3))).toBe(true);
  });

  it('takes none of two traceparents, as the parent of the span does', () => {
    const two = of(['traceparent', `00-${ids}-01`], ['traceparent', `00-${ids}-01`]);
    expect(isSampledByCaller(two)).toBeUndefined();
    expect(parentOf(two)).toBeUndefined();
  });

  it('says of whatever comes what the library finds, as does the parent', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(`00-${ids}-01`, `00-${ids}-0f`, `00-${ids}-00`, `${ids}-1`, '1', 'd'),
      fc.constantFrom('a=b', 'a=b, c=d', ',,', TRACE, SPAN),
    );
    const name = fc.constantFrom(
      ...['traceparent', 'tracestate', 'b3', 'x-b3-flags', 'x-b3-sampled', 'te'],
      ...['x-b3-traceid', 'x-b3-spanid'],
    );
    const fields = fc.uniqueArray(fc.tuple(name, text), { maxLength: 7, selector: ([n]) => n });
    fc.assert(
      fc.property(fields, (all) => {
        const headers = of(...all);
        const found = foundByLibrary(headers);
        expect(toFound(parentOf(headers))).toEqual(
          found === undefined ? undefined : toPlain(found),
        );
        const isW3c = headers.names.includes('traceparent') && !headers.names.includes('b3');
        if (isW3c && found?.traceFlags === 1) expect(isSampledByCaller(headers)).toBe(true);
        else expect([true, false, undefined]).toContain(isSampledByCaller(headers));
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('UNSAMPLED_PLACEHOLDER', () => {
  const standFor = (value: string) =>
    UNSAMPLED_PLACEHOLDER.placeholderFor(Buffer.from(`${value}behind it`, 'latin1'), value.length);
  const decisionOf = (value: string) => isSampledByCaller(of(['traceparent', value]));

  it('stands for values that say that a call is not traced, and says the same', () => {
    const stand = standFor(`00-${ids}-00`);
    expect(stand).toBeDefined();
    expect(stand).not.toContain(TRACE);
    expect(decisionOf(stand ?? '')).toBe(false);
  });

  it('stands for no value that says another thing', () => {
    const digits = (length: number) =>
      fc.string({
        unit: fc.constantFrom('0', '0', '1', 'f', '-', 'g'),
        minLength: length,
        maxLength: length,
      });
    const flags = fc.constantFrom('00', '01', '02', '0', '0-');
    const value = fc
      .tuple(fc.constantFrom('00', '01', 'ff', '0'), digits(32), digits(16), flags)
      .map((parts) => parts.join('-'));
    fc.assert(
      fc.property(fc.oneof(value, fc.string()), (text) => {
        if (standFor(text) !== undefined) expect(decisionOf(text)).toBe(false);
      }),
      { numRuns: 2_000 },
    );
    expect(standFor(`00-${'0'.repeat(32)}-${SPAN}-00`)).toBeUndefined();
    expect(standFor(`00-${TRACE}-${'0'.repeat(16)}-00`)).toBeUndefined();
    expect(standFor(`00-${ids}-01`)).toBeUndefined();
  });
});
