import fc from 'fast-check';
import {
  createClosedStreams,
  CloseReason,
  closeReasonOf,
  rememberClosed,
  addStream,
  createStreamTable,
  findStream,
  listStreams,
  removeStream,
  someStream,
} from '../../../../src/wire/http2/stream-table';

describe('the table of open streams', () => {
  it('is a map by id, however the ids lie', () => {
    const id = fc
      .oneof(
        fc.nat(100),
        fc.nat(6).map((n) => n * 4096),
        fc.nat(2 ** 30 - 1),
      )
      .map((n) => 2 * n + 1);
    fc.assert(
      fc.property(fc.array(fc.tuple(id, fc.boolean()), { maxLength: 200 }), (steps) => {
        const table = createStreamTable<{ id: number }>();
        const model = new Map<number, { id: number }>();
        for (const [id, remove] of steps) {
          if (remove) {
            removeStream(table, id);
            model.delete(id);
          } else if (!model.has(id)) {
            const stream = { id };
            addStream(table, stream);
            model.set(id, stream);
          }
          expect(findStream(table, id)).toBe(model.get(id));
          expect(table.count).toBe(model.size);
        }
        for (const { id } of listStreams(table))
          expect(someStream(table, (stream) => stream.id === id)).toBe(true);
        expect(someStream(table, () => false)).toBe(false);
        expect(listStreams(table)).toEqual([...model.values()].sort((a, b) => a.id - b.id));
        expect(table.slots.length).toBeLessThanOrEqual(4096);
      }),
    );
  });
});

describe('the memory of closed streams', () => {
  it('never takes one ending for another, and remembers the last ones', () => {
    const closing = fc.tuple(
      fc.nat(3000),
      fc.constantFrom(CloseReason.ended, CloseReason.resetByPeer, CloseReason.resetByUs),
    );
    fc.assert(
      fc.property(fc.array(closing, { maxLength: 300 }), (closings) => {
        const closed = createClosedStreams();
        const model = new Map<number, number>();
        for (const [n, ending] of closings) {
          rememberClosed(closed, 2 * n + 1, ending);
          model.set(2 * n + 1, ending);
        }
        for (const [n] of [...closings, [7], [5000]] as const) {
          const truth = model.get(2 * n + 1) ?? CloseReason.neverOpened;
          expect([truth, CloseReason.forgotten]).toContain(closeReasonOf(closed, 2 * n + 1));
        }
        expect(closed.ids.length).toBeLessThanOrEqual(2048);
      }),
    );
  });

  it('remembers 2,048 streams in a row', () => {
    const closed = createClosedStreams();
    for (let id = 1; id < 20_000; id += 2) rememberClosed(closed, id, CloseReason.ended);
    const known = (id: number) => closeReasonOf(closed, id);
    expect(known(19_999)).toBe(CloseReason.ended);
    expect(known(19_999 - 2 * 2047)).toBe(CloseReason.ended);
    expect(known(19_999 - 2 * 2048)).toBe(CloseReason.forgotten);
  });
});
