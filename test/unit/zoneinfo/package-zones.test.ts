import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { offsetsOf, type ZoneData } from '../../../src/core/windows/zone-data';
import { packageZones } from '../../../src/zoneinfo/package-zones';

/** Written by test/support/write-zone-digests.py. */
interface Digests {
  readonly release: string;
  readonly from: number;
  readonly to: number;
  /** How many changes, and the digest of them. */
  readonly digests: Readonly<Record<string, string>>;
  readonly changes: Readonly<Record<string, readonly (readonly [number, number])[]>>;
}

const python = JSON.parse(
  readFileSync(join(__dirname, '../../fixtures/zone-digests.json'), 'utf8'),
) as Digests;
const zones = packageZones();

function changesOf(data: ZoneData): readonly (readonly [number, number])[] {
  const { at, staysUntil } = offsetsOf(data);
  const found: [number, number][] = [[python.from, at(python.from)]];
  for (let second = staysUntil(python.from); second <= python.to; second = staysUntil(second)) {
    if (at(second) !== at(second - 1)) found.push([second, at(second)]);
  }
  return found;
}

function digestOf(changes: readonly (readonly [number, number])[]): string {
  const text = changes.map((change) => change.join(' ')).join('\n');
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
  return `${String(changes.length - 1)} ${hash}`;
}

describe('the zones of the package', () => {
  it('are of the release that Python was asked about', () => {
    expect([zones.source, zones.release]).toEqual(['package', python.release]);
    expect(zones.names?.().toSorted()).toEqual(Object.keys(python.digests).sort());
    expect(Object.keys(python.digests).length).toBeGreaterThan(500);
  });

  it.each(Object.entries(python.changes))('change in %s as Python says', (name, changes) => {
    expect(changesOf(zones.read(name) as ZoneData)).toEqual(changes);
  });

  it('change from 2000 to 2040 as Python says, in every zone', () => {
    const ours = Object.keys(python.digests).map((name) => [
      name,
      digestOf(changesOf(zones.read(name) as ZoneData)),
    ]);
    expect(Object.fromEntries(ours)).toEqual(python.digests);
  });

  it('are found in any letter case, and no others', () => {
    expect(zones.nameOf?.('america/VANCOUVER')).toBe('America/Vancouver');
    expect(zones.read('america/vancouver')).toEqual(zones.read('America/Vancouver'));
    expect(zones.nameOf?.('America/Vancouvre')).toBeUndefined();
    expect(zones.read('America/Vancouvre')).toBeUndefined();
  });
});
