import type { Sink } from '../../src/stats/sink';

/** A sink that keeps what it takes; `fails` says which sends (from 0) it refuses. */
export function createRecordingSink(
  maxBytes: number,
  fails: (send: number) => boolean = () => false,
) {
  const sent: string[] = [];
  const seen = { sends: 0, rests: 0 };
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
    rest() {
      seen.rests += 1;
    },
    close: () => undefined,
  };
  return { sink, sent, seen };
}
