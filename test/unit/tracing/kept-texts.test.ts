import { keptHeaders, keptText } from '../../../src/tracing/span-records';

describe('the headers that a span keeps', () => {
  it('are those of the call while they are small', () => {
    const headers = { names: ['traceparent', 'x'], values: ['00-1', 'y'] };
    expect(keptHeaders(headers)).toBe(headers);
  });

  it('are those of its trace without long ones where there is more', () => {
    const names = ['cookie', 'traceparent', 'tracestate', 'b3'];
    const values = ['c'.repeat(2_000), '00-1', 's'.repeat(1_025), '1'];
    expect(keptHeaders({ names, values })).toEqual({
      names: ['traceparent', 'b3'],
      values: ['00-1', '1'],
    });
  });

  it('are a few, however many fields there are', () => {
    const names = Array.from({ length: 5_000 }, () => 'tracestate');
    const kept = keptHeaders({ names, values: names.map(() => 'a=b') });
    expect([kept.names.length, kept.values.length]).toEqual([16, 16]);
  });
});

it('cuts a text that is too long', () => {
  expect([keptText('abc', 3), keptText('abcd', 3)]).toEqual(['abc', 'abc…']);
});
