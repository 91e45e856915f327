import { addressText } from '../../../../src/platform/listen-address';
import fc from 'fast-check';
import { firstValueFrom, map, takeWhile, toArray } from 'rxjs';
import { addHits } from '../../../../src/counters/count';
import { followNodes } from '../../../../src/counters/memcached/nodes-in-use';
import { type MemcachedEvent } from '../../../../src/counters/memcached/options';
import {
  addCommand,
  changeCommand,
  faultOfKey,
  parseCount,
  placeOf,
  toExpiry,
  createReplyReader,
} from '../../../../src/counters/memcached/protocol';
import { sumHits } from '../../../../src/counters/memcached/write-behind';

describe('a key', () => {
  it.each([
    ['k'.repeat(250), undefined],
    [
      'k'.repeat(251),
      'memcached accepts keys of at most 250 bytes: this one has 251; hash_value shortens a long value to 37',
    ],
    [
      'ü'.repeat(126),
      'memcached accepts keys of at most 250 bytes: this one has 252; hash_value shortens a long value to 37',
    ],
    [
      'a b',
      'memcached does not accept a key with whitespace or control characters: this one has U+0020 at 1',
    ],
    [
      'a\u007f',
      'memcached does not accept a key with whitespace or control characters: this one has U+007F at 1',
    ],
    ['', 'memcached does not accept an empty key'],
    ['grüße_🦊\u00a0', undefined],
  ])('%j: %s', (key, fault) => {
    expect(faultOfKey(key)).toBe(fault);
  });

  it.each([
    // CRC-32 (IEEE): the check value of the standard is that of 123456789.
    ['123456789', 1_000_003, 0xcbf43926 % 1_000_003],
    ['p_k_1_1795237200', 1, 0],
  ])('%s lies on its node of %d', (key, nodes, node) => {
    expect(placeOf(key, nodes, 1).node).toBe(node);
  });

  it('keeps its connection, and all connections of a node are used', () => {
    const used = new Set<number>();
    for (let n = 0; n < 200; n += 1) {
      const place = placeOf(`key_${String(n)}`, 3, 2);
      expect(place.node).toBe(placeOf(`key_${String(n)}`, 3, 1).node);
      used.add(place.node * 2 + place.connection);
    }
    expect(used.size).toBe(6);
  });
});

describe('a command', () => {
  it.each([
    [changeCommand('k', 0), 'incr k 0\r\n'],
    [changeCommand('k', 2n ** 60n), 'incr k 1152921504606846976\r\n'],
    [changeCommand('k', -3), 'decr k 3\r\n'],
    [changeCommand('k', -(2n ** 65n)), 'decr k 18446744073709551615\r\n'],
    [addCommand('k', 12, 60), 'add k 0 60 2\r\n12\r\n'],
    [addCommand('k', -3, 60), 'add k 0 60 1\r\n0\r\n'],
  ])('%j', (command, bytes) => {
    expect(command).toBe(bytes);
  });

  it.each([
    [1, 2],
    [60, 61],
    [2_591_999, 2_592_000],
    [2_592_000, 1_795_240_201 + 2_592_001],
    [31_536_299, 1_795_240_201 + 31_536_300],
  ])('%d seconds to live are written as %d, one second longer', (ttlSeconds, expiry) => {
    expect(toExpiry(ttlSeconds, 1_795_240_201.7)).toBe(expiry);
  });
});

describe('a count', () => {
  it.each([
    ['0', 0],
    ['9 ', 9],
    ['999999999999999', 999_999_999_999_999],
    ['18446744073709551615', 18_446_744_073_709_551_615n],
  ])('%j reads %s', (text, count) => {
    expect(parseCount(text)).toBe(count);
  });

  it.each(['', 'x', '-1', '1.5', '123456789012345678901'])('%j is none', (text) => {
    expect(parseCount(text)).toMatchObject({ fault: 'key' });
  });

  it.each([
    [2, -5, 0],
    [2 ** 53 - 1, 1, 2n ** 53n],
    [2n ** 63n - 2n, 1, 2n ** 63n - 1n],
    [5n, -9, 0n],
  ])('%s and %s hits are %s', (count, hits, sum) => {
    expect(addHits(count, hits)).toBe(sum);
  });

  it('does not overflow', () => {
    expect(addHits(2n ** 63n - 1n, 1)).toMatchObject({ fault: 'key' });
  });

  it.each([
    [1, 2, 3],
    [2 ** 53 - 1, 2, 2n ** 53n + 1n],
    [-1, -2n, -3n],
  ])('hits %s and %s together are %s', (one, other, sum) => {
    expect(sumHits(one, other)).toBe(sum);
  });
});

describe('replies', () => {
  const REPLIES =
    'VALUE grüße 0 2\r\n12\r\nVALUE b 5 6 77\r\n1\r\n2\r\n\r\nEND\r\nNOT_FOUND\r\n17\r\n\r\nSTORED\r\n';
  const SAID = [['grüße', '12'], ['b', '1\r\n2\r\n'], 'END', 'NOT_FOUND', '17', '', 'STORED'];
  const readAll = (chunks: readonly Buffer[]) => {
    const said: unknown[] = [];
    const reader = createReplyReader({
      onValue: (key, data) => said.push([key, data]),
      onLine: (line) => said.push(line),
    });
    for (const chunk of chunks) reader.read(chunk);
    return said;
  };

  it('mean the same however they are cut', () => {
    const bytes = Buffer.from(REPLIES);
    const cuts = fc.array(fc.nat({ max: bytes.length }), { maxLength: 12 });
    fc.assert(
      fc.property(cuts, (at) => {
        const ends = [...at.toSorted((a, b) => a - b), bytes.length];
        const chunks = ends.map((end, index) => bytes.subarray(ends[index - 1] ?? 0, end));
        expect(readAll(chunks)).toEqual(SAID);
      }),
    );
  });

  it.each([
    ['a line without an end', 'x'.repeat(3_000)],
    ['a value without bounds', 'VALUE k 0 99999999999\r\n'],
  ])('that are %s are refused', (_, text) => {
    expect(() => readAll([Buffer.from(text)])).toThrow(/of its reply/);
  });
});

describe('nodes of an SRV record', () => {
  type Answer = readonly { readonly name: string; readonly port: number }[];

  /** What becomes of these answers, in order; `undefined` is none. */
  const follow = async (answers: readonly (Answer | undefined)[], refreshMs: number) => {
    const events: MemcachedEvent['kind'][] = [];
    const reasons: string[] = [];
    let asked = 0;
    const nodes$ = followNodes(
      {
        random: () => 0.5,
        resolveSrv: () => {
          const answer = answers[Math.min(asked, answers.length - 1)];
          asked += 1;
          if (answer === undefined) return Promise.reject(new Error('queryESRV ENOTFOUND'));
          return Promise.resolve(answer);
        },
        onUnresolved: (reason) => reasons.push(reason),
        onEvent: ({ kind }) => events.push(kind),
      },
      { kind: 'srv', record: '_m._tcp.test', refreshMs },
    );
    const all$ = nodes$.pipe(
      map((nodes) => nodes.map(addressText)),
      takeWhile((nodes) => nodes.length === 0 || asked < answers.length, true),
      toArray(),
    );
    return { lists: await firstValueFrom(all$), events, reasons };
  };

  it('come in the order of their texts, and again when they change', async () => {
    const first = [
      { name: 'b.test', port: 11_211 },
      { name: 'a.test', port: 2 },
      { name: 'a.test.', port: 11 },
      { name: 'a', port: 9 },
    ];
    const { lists, events } = await follow([first, first, [{ name: 'c.test', port: 1 }]], 1);
    expect(lists).toEqual([
      ['a:9', 'a.test:11', 'a.test:2', 'b.test:11211'].sort(asRecorded),
      ['c.test:1'],
    ]);
    expect(events).toEqual(['nodes', 'nodes']);
  });

  it('that cannot be found are reported, and once that they are found', async () => {
    const { events, reasons } = await follow([undefined, [], [{ name: 'c', port: 1 }]], 0);
    expect(reasons).toEqual(['the name has no address (ENOTFOUND)', 'the record lists no nodes']);
    expect(events).toEqual(['unresolved', 'unresolved', 'resolved', 'nodes']);
  });
});

/** Names end with a dot in what the reference sorts. */
function asRecorded(a: string, b: string): number {
  return a.replace(':', '.:') < b.replace(':', '.:') ? -1 : 1;
}
