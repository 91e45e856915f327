import type { Sink } from '../../src/stats/push-output';

/** A sink that keeps what it takes; `fails` says which sends (from 0) it refuses. */
export function createRecordingSink(
  maxBytes: number,
  fails: (send: number) => boolean = () => false,
) {
  const sent: string[] = [];
  const seen = { sends: 0, endedFlushes: 0 };
  const sink: Sink = {
    name: 'a recording',
    maxBytes,
    send(lines) {
      const send = seen.sends;
      seen.sends += 1;
      if (fails(send)) return Promise.reject(new Error('refused'));
      sent.push(lines);
      return Promise.resolve();
    },
    endFlush() {
      seen.endedFlushes += 1;
    },
    close: () => undefined,
  };
  return { sink, sent, seen };
}
