import { createLogWriter, openDecisionLines } from '../../../../../src/app/workers/worker/reporter';
import type { FromWorker } from '../../../../../src/app/workers/messages';

/** A channel that takes messages when the test says so. */
function createChannel() {
  const sent: FromWorker[] = [];
  const taken: (() => void)[] = [];
  return {
    sent,
    send(message: FromWorker) {
      sent.push(message);
      return new Promise<void>((resolve) => taken.push(resolve));
    },
    async takeAll() {
      for (const resolve of taken.splice(0)) resolve();
      await Promise.resolve();
    },
  };
}

const LONG = `${'x'.repeat(4_096)}\n`;

describe('the log of a worker', () => {
  it('has its short lines written by the worker, its long ones by the owner', () => {
    const { send, sent } = createChannel();
    const written: string[] = [];
    const log = createLogWriter(send, (line) => written.push(line));
    log('short\n');
    log(LONG);
    expect(written).toEqual(['short\n']);
    expect(sent).toEqual([{ kind: 'log', line: LONG }]);
  });

  it('is written by the worker where the owner does not read', async () => {
    const { send, sent, takeAll } = createChannel();
    const written: string[] = [];
    const log = createLogWriter(send, (line) => written.push(line));
    const half = 'x'.repeat(600_000);
    for (const line of [`${half}1`, `${half}2`]) log(line);
    expect([sent.length, written]).toEqual([1, [`${half}2`]]);
    await takeAll();
    log(`${half}3`);
    expect([sent.length, written.length]).toEqual([2, 1]);
  });
});

it('sends the decision log for standard output, and drops what finds no room', async () => {
  const { send, sent, takeAll } = createChannel();
  const dropped = jest.fn();
  const lines = openDecisionLines(send)({
    ...{ path: undefined, maxBytes: 10, onDropped: dropped, onError: dropped },
  });
  lines.write('12345\n');
  lines.write('67890\n');
  expect(sent).toEqual([{ kind: 'decision', line: '12345\n' }]);
  expect(dropped).toHaveBeenCalledTimes(1);
  await takeAll();
  lines.write('again\n');
  expect(sent).toHaveLength(2);
  await takeAll();
  await lines.close(0);
});
