import { once } from 'node:events';
import { Readable } from 'node:stream';
import { readByTurns } from '../../../../src/rule-sources/xds/connect';

it('takes some dozens of messages in a turn of the event loop, and all of them in their order', async () => {
  const messages = Array.from({ length: 5_000 }, (_, at) => Buffer.from(String(at)));
  const stream = Readable.from(messages, { highWaterMark: 10_000 });
  const taken: string[] = [];
  let inTurn = 0;
  let most = 0;
  const counting = (): void => {
    most = Math.max(most, inTurn);
    inTurn = 0;
    if (taken.length < messages.length) setImmediate(counting);
  };
  setImmediate(counting);
  readByTurns(stream, (bytes) => {
    inTurn += 1;
    taken.push(bytes.toString());
  });
  await once(stream, 'end');
  expect(taken).toEqual(messages.map(String));
  // Those before and after the turn of the reader fall into one of ours.
  expect(most).toBeLessThanOrEqual(64);
});
