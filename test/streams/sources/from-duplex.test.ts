import { marbles } from 'rxjs-marbles/jest';
import { map, tap } from 'rxjs';
import { fromDuplex, type DuplexEvents, type OpenDuplex } from '../../../streams';

describe('fromDuplex', () => {
  it(
    'says hello, emits what comes, errors when the stream is lost',
    marbles((m) => {
      const incoming = m.cold('-a-b--#', undefined, 'gone');
      const sent: string[] = [];
      const open: OpenDuplex<string, string> = ({ message, lost }) => {
        const reading = incoming.subscribe({ next: message, error: lost });
        return {
          send: (text) => sent.push(text),
          close: () => {
            reading.unsubscribe();
          },
        };
      };
      const received = fromDuplex(open, () => 'hello').pipe(
        tap(({ message, reply }) => {
          reply(`got ${message}`);
        }),
        map(({ message }) => message),
      );
      m.expect(received).toBeObservable('-a-b--#', undefined, 'gone');
      m.expect(incoming).toHaveSubscriptions('^-----!');
      m.flush();
      expect(sent).toEqual(['hello', 'got a', 'got b']);
    }),
  );

  it('closes the stream on teardown and sends nothing after that', () => {
    const log: string[] = [];
    let events: DuplexEvents<string> | undefined;
    let answer: (text: string) => void = () => undefined;
    const receiving = fromDuplex<string, string>(
      (given) => {
        events = given;
        return { send: (text) => log.push(text), close: () => log.push('closed') };
      },
      () => 'hello',
    ).subscribe(({ reply }) => (answer = reply));
    events?.message('a');
    answer('one');
    receiving.unsubscribe();
    answer('two');
    events?.message('b');
    expect(log).toEqual(['hello', 'one', 'closed']);
  });

  it('closes a stream that was lost before it was open, and says no hello', () => {
    const log: string[] = [];
    fromDuplex<string, string>(
      ({ lost }) => {
        lost('refused');
        return { send: (text) => log.push(text), close: () => log.push('closed') };
      },
      () => 'hello',
    ).subscribe({ error: (reason: unknown) => log.push(String(reason)) });
    expect(log).toEqual(['refused', 'closed']);
  });

  it('errors when it cannot be opened', () => {
    const reasons: unknown[] = [];
    fromDuplex<string, string>(
      () => {
        throw new Error('no certificate');
      },
      () => 'hello',
    ).subscribe({ error: (reason: unknown) => reasons.push(reason) });
    expect(reasons).toEqual([new Error('no certificate')]);
  });
});
