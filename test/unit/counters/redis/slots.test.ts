import { parseSlots } from '../../../../src/counters/redis/cluster/slots';

const row = (first: number, last: number, host: unknown, port: unknown) => [
  first,
  last,
  [host, port, 'id'],
];

it('reads who owns which slots; a node that does not know its own host is the one that was asked', () => {
  expect(parseSlots([row(0, 5, '10.0.0.1', 6379), row(6, 9, '', 65_535)], 'asked')).toEqual([
    { first: 0, last: 5, owner: { host: '10.0.0.1', port: 6379 } },
    { first: 6, last: 9, owner: { host: 'asked', port: 65_535 } },
  ]);
});

it.each([65_536, 700_000, -1, 1.5, 'none'])(
  'refuses the whole answer where the port of an owner is %s: what is known of the slots stays',
  (port) => {
    const answer = [row(0, 5, '10.0.0.1', 6379), row(6, 9, '10.0.0.2', port)];
    expect(() => parseSlots(answer, 'asked')).toThrow(`its slot map has the port ${String(port)}`);
  },
);
