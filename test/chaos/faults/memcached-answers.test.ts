import { batch, freshKey, increment } from '../../contract/counters.contract';
import { eventually } from '../../support/edge/eventually';
import {
  startFakeMemcached,
  type FakeMemcached,
  type MemcachedCommand,
  type WrongAnswer,
} from '../../support/fake-memcached';
import {
  COLUMN,
  HUNG,
  itSees,
  keyOf,
  patienceFor,
  runDrill,
  startDrill,
  type Drill,
  type Fault,
} from '../../support/edge/fault-drill';
import {
  connectMemcachedCounters,
  stopMemcachedCounters,
  untilAdded,
} from '../../support/edge/memcached-counters';

/** Each class of wrong answer: its name in the table, and what the server does. */
const ANSWERS: readonly (readonly [name: string, answer: WrongAnswer])[] = [
  ['is answered by `ERROR`', 'ERROR'],
  ['is answered by `CLIENT_ERROR`', 'CLIENT_ERROR bad command line format'],
  ['is answered by `SERVER_ERROR`', 'SERVER_ERROR out of memory storing object'],
  ['gets the answer to another command', 'OK'],
  ['ends the connection', 'closes'],
  ['is not answered', 'silent'],
];

const ASTRAY: typeof ANSWERS = [
  ['is answered by what nobody asked', 'END\r\nEND'],
  ['is answered by a line without an end', 'x'.repeat(5_000)],
];

const isError = (answer: WrongAnswer): boolean => answer.includes('ERROR');

/** What a caller sees, and what becomes of the hits, when one command of a decision goes wrong. */
function outcomeOf(command: MemcachedCommand, answer: WrongAnswer): Pick<Fault, 'sees' | 'counts'> {
  if (command === 'version') return { sees: ['UNAVAILABLE'], counts: 'behind' };
  if (answer === 'silent') return { sees: HUNG, counts: 'behind' };
  if (!isError(answer)) return { sees: ['UNAVAILABLE'], counts: 'behind' };
  // Answers come before the writes.
  return command === 'get'
    ? { sees: ['UNAVAILABLE'], counts: 'exact' }
    : { sees: [], counts: 'refused' };
}

describe('memcached, command by command', () => {
  let server: FakeMemcached;
  let ofHung: Drill;
  let ofOthers: Drill;
  beforeAll(async () => {
    server = await startFakeMemcached();
    const start = (sees: Fault['sees']) =>
      startDrill({
        MEMSTORE_HOST_PORT: `127.0.0.1:${String(server.port)}`,
        ...patienceFor({ sees }),
      });
    [ofHung, ofOthers] = await Promise.all([start(HUNG), start([])]);
  });
  afterEach(async () => {
    server.wrong = undefined;
    await stopMemcachedCounters();
  });
  afterAll(async () => {
    await ofHung.stop();
    await ofOthers.stop();
    await server.close();
  });

  const rows = (['version', 'get', 'incr', 'add'] as const).flatMap((command) =>
    [...ANSWERS, ...(command === 'get' ? ASTRAY : [])].map(([name, answer]) => ({
      ...{ command, name, answer },
    })),
  );
  rows.forEach(({ command, name, answer }, index) => {
    const { sees, counts } = outcomeOf(command, answer);
    const value = `answers${String(index)}`;
    const hasLostHits = sees.length === 0;
    itSees({ fault: `\`${command}\` ${name}`, sees, counts }, async () => {
      const drill = sees === HUNG ? ofHung : ofOthers;
      const logged = drill.service.output().length;
      await runDrill(
        { sees, counts },
        {
          drill,
          value,
          count: () => Promise.resolve(Number(server.values.get(keyOf(value)) ?? 0)),
          mount() {
            server.wrong = { command, answer };
            if (command === 'version') server.drop();
            if (command === 'add') server.values.clear();
          },
          async clear() {
            if (hasLostHits)
              await eventually(() => {
                const said = drill.service.output().slice(logged);
                expect(said).toMatch(/hits were answered but could not be added/);
                expect(said).toContain(answer);
              });
            server.wrong = undefined;
          },
        },
      );
    });
  });

  const orders = (['decr', 'delete', 'set'] as const).flatMap((command) =>
    ANSWERS.map(([name, answer]) => ({ command, name, answer })),
  );
  for (const { command, name, answer } of orders) {
    const sees =
      command === 'decr' ? 'nothing of it' : 'nothing of it; the operator gets the error';
    const row = [`\`${command}\` ${name}`, sees, 'what they held before it'].join(COLUMN);
    it(row, async () => {
      const counters = await connectMemcachedCounters([{ host: '127.0.0.1', port: server.port }], {
        timeoutMs: 300,
      });
      const counter = increment(freshKey(), 5);
      await counters.add(batch([counter]));
      await untilAdded(counters);
      server.wrong = { command, answer };
      if (command === 'decr') {
        const { after } = await counters.add(batch([{ ...counter, hits: -2 }]));
        expect(after).toEqual([3]);
        await eventually(() => {
          expect(counters.events).toContainEqual(
            expect.objectContaining({ kind: 'not-added', hits: 2 }),
          );
        });
        expect(counters.statistics.get('ratelimit.memcache.increment.__code=error')).toBe(1);
      } else {
        const failures =
          command === 'delete'
            ? await counters.remove([counter])
            : await counters.set([counter], 1, Date.now() / 1_000);
        expect(failures[0]?.message).toContain('memcached 127.0.0.1');
      }
      server.wrong = undefined;
      await eventually(async () => {
        const { after } = await counters.add(batch([{ ...counter, hits: 1 }]));
        expect(after).toEqual([6]);
      });
      await untilAdded(counters);
      expect(counters.kinds().includes('disconnected')).toBe(!isError(answer));
    });
  }
});
