import { beginHeaders, connectAttacker, openCall, repeat, wholeCall } from './h2-attacker';
import { Type, data, frame, ping, rst, settings, windowUpdate } from '../h2-frames';
import type { Service } from './service';

const CALLS = 50_000;
const FRAMES = 200_000;
const PIECE_BYTES = 262_144;

const each = (count: number, make: (id: number) => Buffer) => () => repeat(count, make);
const inOneStream = (first: Buffer, then: Buffer) => () =>
  Buffer.concat([first, repeat(FRAMES, () => then)]);
const resetAtOnce = (id: number) => Buffer.concat([openCall(id), rst(id)]);
const askedAndReset = (id: number) => Buffer.concat([wholeCall(id), rst(id)]);
const provoking = (id: number) => Buffer.concat([openCall(id), windowUpdate(id, 0)]);

/** What an attacker sends on one connection. */
export const ATTACKS: readonly [string, () => Buffer][] = [
  ['50,000 calls that are reset at once', each(CALLS, resetAtOnce)],
  ['50,000 whole calls that are reset at once', each(CALLS, askedAndReset)],
  ['50,000 calls that make us reset them', each(CALLS, provoking)],
  ['200,000 PINGs whose answers nobody reads', each(FRAMES, () => ping())],
  ['200,000 SETTINGS whose answers nobody reads', each(FRAMES, () => settings([3, 100]))],
  ['200,000 PRIORITY frames', each(FRAMES, (id) => frame(Type.priority, 0, id, '0000000010'))],
  ['200,000 empty DATA frames', inOneStream(openCall(1), data(1, ''))],
  [
    '200,000 CONTINUATIONs of one header block',
    inOneStream(beginHeaders(1), frame(Type.continuation, 0, 1, '00')),
  ],
];

/** How each of them ends: ENHANCE_YOUR_CALM. */
export const CALMED = 'goAway 11';

/** Less than the bytes of any attack, which comes many times. */
export const MAX_GROWTH_MB = 64;

/** Sends without reading; answers how the connection ended. */
export async function attackOnce(service: Service, bytes: Buffer): Promise<string> {
  const attacker = await connectAttacker(service.grpc);
  attacker.socket.pause();
  for (let at = 0; at < bytes.length && !attacker.isClosed(); at += PIECE_BYTES)
    await attacker.send(bytes.subarray(at, at + PIECE_BYTES));
  attacker.socket.resume();
  await attacker.closed;
  return (attacker.seen().at(-1) ?? 'nothing').replace(/ last .*/, '');
}
