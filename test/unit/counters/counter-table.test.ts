import fc from 'fast-check';
import { CounterTable, type CounterId } from '../../../src/counters/memory/counter-table';
import { createKeyReader, KeyReader } from '../../../src/counters/memory/key-reader';
import { NONE } from '../../../src/counters/memory/record-pages';

const NUMBERS = 2;
/** A table of few counters. */
const SLACK_BYTES = 1_024;

const keys = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.nat(400).map((at) => `edge_user_user-${String(at)}_1795240800`),
  fc.constantFrom('', 'é'.repeat(256), '中'.repeat(256), 'a'.repeat(256)),
);
const steps = fc.array(
  fc.record({
    does: fc.constantFrom('add', 'add', 'set', 'remove'),
    key: keys,
    value: fc.double(),
  }),
  { maxLength: 60 },
);

/** A table beside a map that holds the same, under ids that the table may change. */
function create(reader: KeyReader) {
  const ids = new Map<CounterId, string>();
  const table = new CounterTable(NUMBERS, reader, (from, to) => {
    ids.set(to, ids.get(from) as string);
    ids.delete(from);
  });
  const known = new Map<string, number>();
  return {
    table,
    add(key: string) {
      const id = table.add(key);
      ids.set(id, key);
      known.set(key, 0);
      return id;
    },
    set(id: CounterId, value: number) {
      table.setNumber(id, NUMBERS - 1, value);
      table.setNote(id, 0xffff_fff0);
      table.setList(id, 5);
      known.set(ids.get(id) as string, value);
    },
    remove(id: CounterId) {
      known.delete(ids.get(id) as string);
      ids.delete(id);
      table.remove(id);
    },
    expectSame() {
      expect(table.size).toBe(known.size);
      expect(new Set(table.all())).toEqual(new Set(ids.keys()));
      const isWrong = ([id, key]: readonly [CounterId, string]): boolean => {
        const value = known.get(key) as number;
        const [note, list] = value === 0 ? [0, 0] : [0xffff_fff0, 5];
        return !(
          table.find(key) === id &&
          table.keyOf(id) === key &&
          table.number(id, 0) === 0 &&
          Object.is(table.number(id, NUMBERS - 1), value) &&
          table.note(id) === note &&
          table.list(id) === list
        );
      };
      expect([...ids].filter(isWrong)).toEqual([]);
      expect(table.allocatedBytes).toBeLessThan(table.bytes + SLACK_BYTES);
    },
  };
}

describe.each([
  ['a hash', createKeyReader()],
  ['a hash that is always the same', new KeyReader(() => 7)],
  ['a hash with few values', new KeyReader(({ length }) => length % 3)],
] as const)('by %s', (_, reader) => {
  it('holds what a map holds, whatever is added, set and removed', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const { table, ...play } = create(reader);
        for (const { does, key, value } of all) {
          const id = table.find(key);
          if (id === NONE && does === 'add') play.add(key);
          if (id !== NONE && does === 'set') play.set(id, value);
          if (id !== NONE && does === 'remove') play.remove(id);
        }
        play.expectSame();
      }),
    );
  });
});

describe('many counters', () => {
  const keyOf = (at: number) => `edge_user_user-${String(at)}${'x'.repeat(at % 40)}_1795240800`;

  it('come and go, and take the memory of those that are there', () => {
    const { table, ...play } = create(createKeyReader());
    const COUNT = 30_000;
    for (let at = 0; at < COUNT; at += 1) play.set(play.add(keyOf(at)), at + 1);
    play.expectSame();
    const full = table.allocatedBytes;
    // Every counter but each fifth: no page is without one that stays.
    for (let at = 0; at < COUNT; at += 1) if (at % 5 > 0) play.remove(table.find(keyOf(at)));
    play.expectSame();
    expect(table.allocatedBytes).toBeLessThan(full / 3);
    for (let at = 0; at < COUNT; at += 5) play.remove(table.find(keyOf(at)));
    play.expectSame();
    expect(table.bytes).toBeLessThan(5_000);
  });

  it.each([
    ['oldest first', (at: number) => at],
    ['newest first', (at: number, count: number) => count - 1 - at],
    ['in a mixed order', (at: number, count: number) => (at * 7_919) % count],
  ] as const)('take no more than they say at any time, removed %s', (_, order) => {
    const COUNT = 20_000;
    const table = new CounterTable(NUMBERS, createKeyReader());
    for (let at = 0; at < COUNT; at += 1) table.add(keyOf(at));
    let most = -Infinity;
    for (let at = 0; at < COUNT; at += 1) {
      table.remove(table.find(keyOf(order(at, COUNT))));
      // Those that evict others come in their places.
      if (at % 3 === 0) table.add(keyOf(COUNT + at));
      most = Math.max(most, table.allocatedBytes - table.bytes);
    }
    expect(most).toBeLessThan(SLACK_BYTES);
  });

  it('keep their neighbours when they move', () => {
    const table = new CounterTable(NUMBERS, createKeyReader());
    let last: CounterId = NONE;
    for (let at = 0; at < 20_000; at += 1) {
      const id = table.add(keyOf(at));
      // Every tenth one is in the list.
      if (at % 10 > 0) continue;
      table.setPrevious(id, last);
      if (last !== NONE) table.setNext(last, id);
      last = id;
    }
    for (let at = 0; at < 20_000; at += 1) if (at % 10 > 0) table.remove(table.find(keyOf(at)));
    const listed: string[] = [];
    for (let id = table.find(keyOf(0)); id !== NONE; id = table.next(id))
      listed.push(table.keyOf(id));
    const back: string[] = [];
    for (let id = table.find(keyOf(19_990)); id !== NONE; id = table.previous(id))
      back.push(table.keyOf(id));
    const expected = Array.from({ length: 2_000 }, (_, at) => keyOf(at * 10));
    expect(listed).toEqual(expected);
    expect(back.reverse()).toEqual(expected);
  });

  it('are told once each while others come, go and move', () => {
    const table = new CounterTable(NUMBERS, createKeyReader());
    for (let at = 0; at < 20_000; at += 1) table.add(keyOf(at));
    const told = new Map<string, number>();
    let at = 0;
    for (const id of table.all()) {
      const key = table.keyOf(id);
      told.set(key, (told.get(key) ?? 0) + 1);
      at += 1;
      const next = table.find(keyOf(Math.max(0, 20_000 - at * 3)));
      if (next !== NONE) table.remove(next);
      table.add(`new ${String(at)}`);
    }
    expect([...told.values()].filter((times) => times > 1)).toEqual([]);
    expect(told.size).toBeGreaterThan(8_000);
  });
});

describe('the hash of a key', () => {
  const hashBy = (secret: string) => {
    const reader = createKeyReader(Buffer.from(secret, 'hex'));
    return (text: string) => reader.read(text);
  };
  const hash = hashBy('0001020304050607');
  const other = hashBy('0001020304050608');
  const texts = Array.from(
    { length: 20_000 },
    (_, at) => `edge_user_user-${String(at)}_1795240800`,
  );

  it('is 32 bits, without a sign, that depend on a secret', () => {
    expect(texts.filter((text) => hash(text) === other(text)).length).toBeLessThan(3);
    for (const text of texts.slice(0, 100)) {
      expect(hash(text)).toBe(hash(`${text.slice(0, 5)}${text.slice(5)}`));
      expect(hash(text)).toBe(hash(text) >>> 0);
    }
    expect(createKeyReader().read('a')).not.toBe(createKeyReader().read('a'));
  });

  it('spreads keys evenly, by its first bits and by its last ones', () => {
    for (const part of [(text: string) => hash(text) >>> 26, (text: string) => hash(text) & 63]) {
      const counts = new Array<number>(64).fill(0);
      for (const text of texts) counts[part(text)] = (counts[part(text)] ?? 0) + 1;
      expect(Math.min(...counts)).toBeGreaterThan(240);
      expect(Math.max(...counts)).toBeLessThan(390);
    }
  });

  it.each([
    ['a\0', 'a'],
    ['\u0100a', '\0b'],
    ['abcd\u0100', 'abcd\0\u0001'],
    ['', '\0'],
  ])('of %j is another one than that of %j', (one, another) => {
    expect(hash(one)).not.toBe(hash(another));
  });
});
