import { EventEmitter } from 'node:events';
import { hushServerNameWarning } from '../../../src/platform/server-name';

/** A process whose warnings are printed into a list. */
function start() {
  const printed: string[] = [];
  const events = new EventEmitter();
  events.on('warning', ({ message }: Error) => printed.push(message));
  const process = events as unknown as NodeJS.Process;
  const warn = (message: string, code?: string) =>
    events.emit('warning', Object.assign(new Error(message), { code }));
  return { process, printed, warn };
}

it('keeps the warning about server names that are addresses from being printed, and no other', () => {
  const { process, printed, warn } = start();
  warn('before', 'DEP0123');
  hushServerNameWarning(process);
  warn('an IP address as server name', 'DEP0123');
  warn('Buffer() is deprecated', 'DEP0005');
  warn('without a code');
  expect(printed).toEqual(['before', 'Buffer() is deprecated', 'without a code']);
});

it('lets listeners that come later see every warning', () => {
  const { process, warn } = start();
  hushServerNameWarning(process);
  const seen: string[] = [];
  process.on('warning', ({ message }) => seen.push(message));
  warn('an IP address as server name', 'DEP0123');
  expect(seen).toEqual(['an IP address as server name']);
});
