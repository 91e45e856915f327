import fc from 'fast-check';
import { maskAddress } from '../../../src/request-maps/make-descriptors';
import { readCombinedLine } from '../../../src/simulate/log-formats';
import { DistinctNames, CountHistogram } from '../../../src/simulate/bounded-counts';
import { readTime } from '../../../src/simulate/log-record';
import { ReorderBuffer } from '../../../src/simulate/read-log';
import { UnmatchedCounts } from '../../../src/simulate/figures';
import { request } from '../../support/requests';

describe('the time of a line', () => {
  it.each([
    ['2026-11-22T14:00:00Z', 'rfc3339', 1_795_356_000],
    ['2026-11-22T15:00:00.250001+01:00', 'rfc3339', 1_795_356_000.250001],
    ['2026-11-22 14:00:00.5z', 'rfc3339', 1_795_356_000.5],
    [1_795_356_000.25, 'unix', 1_795_356_000.25],
    ['1795356000250', 'unix_ms', 1_795_356_000.25],
    ['22/Nov/2026:15:00:00 +0100', 'clf', 1_795_356_000],
  ] as const)('reads %p in the format %s', (text, format, seconds) => {
    expect(readTime(text, format)).toBeCloseTo(seconds, 6);
  });

  it.each([
    ['yesterday', 'rfc3339'],
    ['2026-13-22T14:00:00Z', 'rfc3339'],
    ['', 'unix'],
    [null, 'unix_ms'],
    ['22/Foo/2026:15:00:00 +0100', 'clf'],
  ] as const)('refuses %p in the format %s', (text, format) => {
    expect(() => readTime(text, format)).toThrow(`is not in the format ${format}`);
  });
});

describe('a line of the combined log format', () => {
  it('comes apart under the names of nginx', () => {
    const line =
      '10.1.2.3 - ann [22/Nov/2026:14:00:00 +0000] "GET /a?b=\\"c\\" HTTP/1.1" 200 12 "-" "curl/8.5"';
    expect(readCombinedLine(line)).toEqual({
      remote_addr: '10.1.2.3',
      remote_user: 'ann',
      time_local: '22/Nov/2026:14:00:00 +0000',
      request: 'GET /a?b=\\"c\\" HTTP/1.1',
      status: '200',
      body_bytes_sent: '12',
      http_user_agent: 'curl/8.5',
      method: 'GET',
      path: '/a?b=\\"c\\"',
      protocol: 'HTTP/1.1',
    });
  });

  it('may be in the common format, without referer and agent', () => {
    const line = '::1 - - [22/Nov/2026:14:00:00 +0000] "GET / HTTP/1.0" 304 -';
    expect(readCombinedLine(line)).toMatchObject({ remote_addr: '::1', status: '304', path: '/' });
    expect(readCombinedLine(line)).not.toHaveProperty('body_bytes_sent');
  });

  it('is refused when it is something else', () => {
    expect(() => readCombinedLine('hello')).toThrow('not in the combined log format');
  });
});

describe('a masked address', () => {
  it.each([
    ['10.1.2.3', 24, 64, '10.1.2.0/24'],
    ['10.1.2.3:4711', 20, 64, '10.1.0.0/20'],
    ['10.1.2.3', 0, 64, '0.0.0.0/0'],
    ['255.255.255.255', 32, 64, '255.255.255.255/32'],
    ['2001:db8::1234:5', 24, 64, '2001:db8::/64'],
    ['[2001:db8:1:2:3:4:5:6]:443', 24, 48, '2001:db8:1::/48'],
    ['::ffff:10.1.2.3', 24, 120, '::ffff:a01:200/120'],
  ])('%s under %d or %d bits is %s', (address, v4, v6, masked) => {
    expect(maskAddress(address, v4, v6)).toBe(masked);
  });

  it('is missing where there is no address', () => {
    expect(maskAddress('somewhere', 24, 64)).toBeUndefined();
  });
});

describe('a histogram of counts', () => {
  it('finds the least limit under which fewer than a share of requests would have been refused', () => {
    const counts = fc.array(fc.integer({ min: 0, max: 300 }), { minLength: 1, maxLength: 200 });
    fc.assert(
      fc.property(counts, fc.constantFrom(0.01, 0.1, 0), (all, share) => {
        const histogram = new CountHistogram();
        for (const count of all) histogram.add(count);
        const refusedAt = (limit: number) => all.filter((count) => count > limit).length;
        const isEnough = (limit: number) =>
          refusedAt(limit) === 0 || refusedAt(limit) < share * all.length;
        let least = 0;
        while (!isEnough(least)) least += 1;
        expect(histogram.leastBound(share)).toBe(least);
      }),
    );
  });

  it('rounds counts above 65,536 up, by less than a half percent', () => {
    const histogram = new CountHistogram();
    histogram.add(1_000_001);
    expect(histogram.quantile(1)).toBeGreaterThanOrEqual(1_000_001);
    expect(histogram.quantile(1)).toBeLessThan(1_005_000);
  });

  it('answers 0 when it is empty', () => {
    expect(new CountHistogram().quantile(0.5)).toBe(0);
    expect(new CountHistogram().leastBound(0)).toBe(0);
  });
});

describe('the buffer that puts late requests in order', () => {
  it('gives out everything in the order of time, and equal times in the order in which they came', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 4 })), (lags) => {
        const buffer = new ReorderBuffer<number>(5);
        const given: number[] = [];
        const times = lags.map((lag, at) => at - lag);
        times.forEach((time, at) => {
          expect(buffer.push(time, at)).toBe(false);
          for (let next = buffer.shift(); next; next = buffer.shift()) given.push(next.value);
        });
        for (let next = buffer.drain(); next; next = buffer.drain()) given.push(next.value);
        const sorted = times
          .map((time, at) => ({ time, at }))
          .sort((a, b) => a.time - b.time || a.at - b.at);
        expect(given).toEqual(sorted.map(({ at }) => at));
      }),
    );
  });

  it('takes what comes too late at the newest time, and says so', () => {
    const buffer = new ReorderBuffer<string>(5);
    expect(buffer.push(100, 'a')).toBe(false);
    expect(buffer.push(94.9, 'b')).toBe(true);
    expect(buffer.drain()?.value).toBe('a');
    expect(buffer.drain()).toMatchObject({ timeSeconds: 100, value: 'b' });
  });
});

describe('the count of distinct names', () => {
  it('is exact for a hundred thousand names that look alike', () => {
    const names = new DistinctNames();
    for (let i = 0; i < 100_000; i++) names.add(`shop_user_user-${String(i)}`);
    let again = 0;
    for (let i = 0; i < 100_000; i++) if (names.add(`shop_user_user-${String(i)}`)) again += 1;
    expect(again).toBe(0);
    expect(names.size).toBe(100_000);
  });
});

describe('descriptors that matched no limit', () => {
  const status = {
    code: 'OK',
    currentLimit: undefined,
    limitRemaining: 0,
    secondsUntilReset: undefined,
  } as const;
  const note = (sheet: UnmatchedCounts, entry: string) => {
    sheet.note(request('shop', [entry]), [status]);
  };

  it('are counted by their keys, of which the first 1,000 are listed', () => {
    const sheet = new UnmatchedCounts();
    for (let at = 0; at < 1_001; at += 1) note(sheet, `key${String(at)}=a`);
    note(sheet, 'key0=b');
    expect([sheet.shapes().length, sheet.others]).toEqual([1_000, 1]);
    expect(sheet.shapes()[0]).toMatchObject({ keys: 'key0', requests: 2 });
  });

  it('take 16 MiB with their values, however long the lines of the log are', () => {
    const sheet = new UnmatchedCounts();
    for (let at = 0; at < 20; at += 1) note(sheet, `key${String(at)}=${'a'.repeat(1_048_576)}`);
    expect([sheet.shapes().length, sheet.others]).toEqual([7, 13]);
  });
});
