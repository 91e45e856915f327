import fc from 'fast-check';
import { isSampledByCaller } from '../../../src/tracing/is-sampled';
import { parentOf } from '../../../src/tracing/parent';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SPAN = 'b7ad6b7169203331';
const ids = `${TRACE}-${SPAN}`;

function of(...fields: readonly (readonly [string, string])[]) {
  return { names: fields.map(([name]) => name), values: fields.map(([, value]) => value) };
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

  it('says of whatever comes what the library finds, and never throws', () => {
    const text = fc.oneof(
      fc.string(),
      fc.constantFrom(`00-${ids}-01`, `00-${ids}-0f`, `${ids}-1`, '1', 'd'),
    );
    const name = fc.constantFrom('traceparent', 'b3', 'x-b3-flags', 'x-b3-sampled', 'te');
    fc.assert(
      fc.property(fc.array(fc.tuple(name, text), { maxLength: 5 }), (fields) => {
        const headers = of(...fields);
        const parent = parentOf(headers);
        const isSampled = parent !== undefined && (parent.traceFlags & 1) === 1;
        const w3c = headers.names.indexOf('traceparent');
        if (isSampled && w3c >= 0 && !headers.names.includes('b3'))
          expect(isSampledByCaller(headers)).toBe(true);
        else expect([true, false, undefined]).toContain(isSampledByCaller(headers));
      }),
    );
  });
});
