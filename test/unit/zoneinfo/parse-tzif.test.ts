import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { createCalendar } from '../../../src/core/windows/calendar';
import type { ZoneData } from '../../../src/core/windows/zone-data';
import { parseTzif } from '../../../src/zoneinfo/parse-tzif';
import { writeTzif } from '../../support/tzif';

const HOUR = 3_600;

describe('a TZif file', () => {
  it('gives its changes of offset, without those of a name alone', () => {
    const changes = [
      [-(2n ** 59n), 1],
      [100, 2],
      [200, 0],
    ] as const;
    const bytes = writeTzif({ changes, offsets: [0, HOUR, HOUR], footer: '<+00>0' });
    expect(parseTzif(bytes)).toEqual({
      changes: [-(2 ** 59), 200],
      offsets: [0, HOUR, 0],
      yearly: undefined,
    });
  });

  it('follows its rule from the last change on, even of a name alone', () => {
    const changes = [
      [100, 1],
      [200, 2],
    ] as const;
    const file = (footer: string) =>
      parseTzif(writeTzif({ changes, offsets: [0, HOUR, HOUR], footer }));
    expect(file('EET-2')).toMatchObject({ changes: [100, 200], offsets: [0, HOUR, 2 * HOUR] });
    expect(file('CET-1CEST,M3.5.0,M10.5.0/3')).toMatchObject({
      changes: [100, 200],
      offsets: [0, HOUR, HOUR],
      yearly: { standard: HOUR, summer: 2 * HOUR },
    });
    expect(file('')).toMatchObject({ changes: [100], offsets: [0, HOUR], yearly: undefined });
  });

  it('that has no change is as its rule says', () => {
    expect(parseTzif(writeTzif({ footer: 'JST-9' })).offsets).toEqual([9 * HOUR]);
    expect(parseTzif(writeTzif({ footer: 'CET-1CEST,M3.5.0,M10.5.0/3' }))).toMatchObject({
      changes: [],
      yearly: { standard: HOUR },
    });
    const changed = writeTzif({ changes: [[100, 1]], offsets: [0, HOUR], footer: 'X-2' });
    expect(() => parseTzif(changed)).toThrow('its last line is "X-2"');
  });

  it.each([
    ['', Buffer.from(''), 'it ends too early: expected a header of 44 bytes'],
    ['a text', Buffer.from('Europe/Berlin\n'.repeat(9)), 'expected it to begin with TZif'],
    ['32-bit data alone', writeTzif({ version: '\0' }), 'expected version 2 or later'],
    ['no offset', writeTzif({ offsets: [] }), 'it has no offset: expected at least one'],
    ['leap seconds', writeTzif({ leaps: 27 }), 'it counts leap seconds: expected one without'],
    [
      'times out of order',
      writeTzif({
        changes: [
          [2, 0],
          [2, 0],
        ],
      }),
      'its changes are out of order: expected ascending times',
    ],
    [
      'an unknown offset',
      writeTzif({ changes: [[1, 3]] }),
      'a change is of type 3: expected one of 1',
    ],
    [
      'an offset of a day',
      writeTzif({ offsets: [86_400] }),
      'an offset is 86400 s: expected at most 16 hours',
    ],
    ['no last line', writeTzif({ footer: undefined }), 'it has no last line: expected a rule'],
    ['an endless last line', writeTzif({ footer: 'A'.repeat(300) }), 'its last line is too long'],
    [
      'a last line that is no rule',
      writeTzif({ footer: 'CET' }),
      'its last line is "CET": expected a rule',
    ],
  ])('with %s is refused', (_, bytes, message) => {
    expect(() => parseTzif(bytes)).toThrow(message);
  });

  it('that says it holds more than it does takes no more time or memory than it has', () => {
    const bytes = writeTzif({ changes: [[1, 0]] });
    bytes.writeUInt32BE(0xffff_ffff, 44 + 7 + 32);
    expect(() => parseTzif(bytes)).toThrow('it ends too early: expected all that it counts');
  });

  it('that was cut anywhere is refused', () => {
    const whole = writeTzif({ changes: [[100, 1]], offsets: [0, HOUR], footer: 'CET-1' });
    for (let length = 0; length < whole.length; length += 1)
      expect(() => parseTzif(whole.subarray(0, length))).toThrow(/expected/);
  });

  it('with any bytes changed is refused with what was expected, or makes windows that hold the moment', () => {
    const whole = vancouver();
    const change = fc.tuple(fc.nat(whole.length - 1), fc.integer({ min: 0, max: 255 }));
    const moments = fc.integer({ min: 0, max: 4_102_444_800 });
    const changed = fc.array(change, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(changed, moments, (changes, now) => {
        const bytes = Buffer.from(whole);
        for (const [at, byte] of changes) bytes[at] = byte;
        const data = parsed(bytes);
        if (typeof data === 'string') {
          expect(data).toMatch(/expected/);
          return;
        }
        const { startSeconds, endSeconds } = windowOf(data, now);
        expect(startSeconds).toBeLessThanOrEqual(now);
        expect(endSeconds).toBeGreaterThan(now);
      }),
      { numRuns: 2_000 },
    );
  });
});

function vancouver(): Buffer {
  const pack = readFileSync(join(__dirname, '../../../zoneinfo/zones.tzif'));
  const [head = '', , length = ''] =
    /^weir zones 1\nrelease \w+\nindex (\d+)\n/.exec(pack.toString('latin1', 0, 64)) ?? [];
  const [, index = '0'] = /index (\d+)/.exec(head) ?? [length];
  const line = /^America\/Vancouver (\d+) (\d+)$/m.exec(pack.toString('latin1', 0, 32_768)) ?? [];
  const from = head.length + Number(index) + Number(line[1]);
  return pack.subarray(from, from + Number(line[2]));
}

function parsed(bytes: Buffer): ZoneData | string {
  try {
    return parseTzif(bytes);
  } catch (error) {
    return (error as Error).message;
  }
}

function windowOf(data: ZoneData, now: number) {
  const origin = { source: 'system', release: '2026f' } as const;
  const calendar = createCalendar(() => ({ data, origin }));
  const timeZone = 'America/Vancouver';
  return calendar({ unit: 'DAY', timeZone, weekStart: 'monday', monthStart: 1, multiplier: 1 })(
    now,
  );
}
