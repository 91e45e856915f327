import { Subject } from 'rxjs';
import { createSnapshot } from '../../../../streams';
import { timeZoneDataText, watchTimeZones } from '../../../../src/app/rules/time-zones';
import { createOutageLog } from '../../../../src/app/outage-log';
import { compileRules } from '../../../../src/core/rules/compile';
import type { Rules } from '../../../../src/core/rules/rules';
import type { ZoneSource } from '../../../../src/core/windows/zone-data';
import type { VersionNote } from '../../../../src/counters/redis/notes';
import { createRegistry } from '../../../../src/stats/registry';
import { createRecordingLogger } from '../../../support/recording-logger';
import { definitionsOf } from '../../../support/rules';

/** Zones and the data that they are found in. */
type Found = Readonly<Record<string, readonly [ZoneSource, string | undefined]>>;

/** A rule for each zone. */
function rulesOf(found: Found): Rules {
  const rules = definitionsOf(
    Object.keys(found).map((timeZone) => ({
      key: timeZone,
      limit: {
        ...{ unit: 'DAY', requestsPerUnit: 1 },
        calendar: { timeZone, weekStart: 'monday', monthStart: 1 },
      },
    })),
  );
  return compileRules([{ domain: 'shop', rules }], {
    findZone(timeZone) {
      const [source, release] = found[timeZone] ?? ['runtime', undefined];
      return { data: undefined, origin: { source, release } };
    },
  });
}

const OURS: Found = { 'Europe/Berlin': ['package', '2026f'] };

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

function start(first?: Found) {
  const rules = createSnapshot<Rules | undefined>(first && rulesOf(first));
  const connected$ = new Subject<boolean>();
  const registry = createRegistry();
  const { logger, lines } = createRecordingLogger();
  let nowMs = 0;
  const outages = createOutageLog({ logger, monotonicMs: () => nowMs });
  const notes: VersionNote[] = [];
  let others: readonly string[] | undefined = [];
  const watch = watchTimeZones({
    ...{ rules, connected$, statistics: registry, outages, logger },
    keyPrefix: 'p:',
    noteVersions(note) {
      notes.push(note);
      return others === undefined
        ? Promise.reject(new Error('away'))
        : Promise.resolve([...others, ...note.versions]);
    },
  });
  const subscriptions = [outages.run$.subscribe(), watch.run$.subscribe()];
  const settled = () => jest.advanceTimersByTimeAsync(0);
  return {
    ...{ rules, connected$, notes, lines, settled },
    gauges: () => {
      const read = registry.readGauges();
      const of = (name: string) => read.get(`weir.time_zone_data.${name}`);
      return [of('release'), of('source'), of('mismatch')];
    },
    troubles: () => outages.open().map(({ reason }) => reason.fields['reason']),
    meet(found: readonly string[] | undefined) {
      others = found;
    },
    async minute() {
      nowMs += 60_000;
      await jest.advanceTimersByTimeAsync(60_000);
    },
    stop() {
      watch.close();
      for (const subscription of subscriptions) subscription.unsubscribe();
    },
    registry,
  };
}

it('writes what it follows when it connects, with each set of rules and each minute', async () => {
  const { connected$, rules, notes, minute, settled, stop, gauges } = start(OURS);
  await settled();
  const note = { key: 'p:weir:time_zones', versions: ['2026f'], ttlSeconds: 300 };
  expect(notes).toEqual([note]);
  expect(gauges()).toEqual([202_606, 3, 0]);
  connected$.next(true);
  await settled();
  connected$.next(false);
  await settled();
  expect(notes).toHaveLength(2);
  rules.set(rulesOf({ ...OURS, 'Asia/Tokyo': ['runtime', '2025c'] }));
  await settled();
  expect(notes[2]).toEqual({ ...note, versions: ['2026f', '2025c'] });
  expect(gauges()).toEqual([202_503, 1, 0]);
  await minute();
  expect(notes).toHaveLength(4);
  stop();
  await minute();
  expect(notes).toHaveLength(4);
});

it('says what to update while others follow other data, and when they no longer do', async () => {
  const { meet, minute, settled, gauges, troubles, lines, stop } = start(OURS);
  meet(['2025c']);
  await minute();
  expect(gauges()).toEqual([202_606, 3, 1]);
  expect(troubles()).toEqual([
    'here 2026f of Weir, elsewhere 2025c: update the instances with 2025c',
  ]);
  meet(['2026g', '2025c']);
  await minute();
  expect(troubles()).toEqual([
    'here 2026f of Weir, elsewhere 2026g and 2025c: update the instances with 2026f and 2025c',
  ]);
  meet([]);
  await minute();
  await minute();
  await settled();
  expect([gauges()[2], troubles()]).toEqual([0, []]);
  expect(lines.at(-1)?.message).toMatch(/^all instances on this store follow the same/);
  stop();
});

it('knows nothing new while the store is away', async () => {
  const { meet, minute, gauges, stop, lines } = start(OURS);
  meet(['2025c']);
  await minute();
  meet(undefined);
  await minute();
  expect(gauges()[2]).toBe(1);
  expect(lines.some(({ level }) => level === 'debug')).toBe(true);
  stop();
});

it('shows nothing and writes nothing where no rule has a calendar, also once none has any longer', async () => {
  const { rules, meet, minute, settled, notes, gauges, troubles, stop } = start();
  await minute();
  expect([notes, gauges()]).toEqual([[], [undefined, undefined, undefined]]);
  meet(['2025c']);
  rules.set(rulesOf(OURS));
  await settled();
  expect(troubles()).toHaveLength(1);
  rules.set(rulesOf({}));
  await settled();
  expect([notes.length, gauges(), troubles()]).toEqual([1, [undefined, undefined, undefined], []]);
  stop();
});

it('compares nothing where all calendars are in UTC, which is the same in all data', async () => {
  const { minute, notes, gauges, stop } = start({ UTC: ['runtime', undefined] });
  await minute();
  expect([notes, gauges()]).toEqual([[], [0, 1, 0]]);
  stop();
});

it('the page names all data that calendars follow, the newest first', () => {
  expect(timeZoneDataText(undefined)).toBeUndefined();
  expect(timeZoneDataText(rulesOf({}))).toBeUndefined();
  const mixed = rulesOf({ 'Asia/Tokyo': ['runtime', '2025c'], ...OURS });
  expect(timeZoneDataText(mixed)).toBe('2026f of Weir and 2025c of Node');
});
