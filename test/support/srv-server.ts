import { createSocket } from 'node:dgram';
import type { AddressInfo } from 'node:net';

export interface SrvTarget {
  readonly name: string;
  readonly port: number;
}

const HEADER_BYTES = 12;
const AFTER_NAME_BYTES = 4;
const SRV = 33;
const INTERNET = 1;
const ANSWER_FLAGS = 0x8580;
/** A pointer to the name of the question. */
const NAME_OF_QUESTION = 0xc000 | HEADER_BYTES;

/** A name server on loopback that knows one SRV record, whatever it is asked for. */
export async function startSrvServer(targets: () => readonly SrvTarget[]) {
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const nameEnd = query.indexOf(0, HEADER_BYTES) + 1;
    const question = query.subarray(HEADER_BYTES, nameEnd + AFTER_NAME_BYTES);
    const answers = targets().map(toRecord);
    const header = words(query.readUInt16BE(0), ANSWER_FLAGS, 1, answers.length, 0, 0);
    socket.send(Buffer.concat([header, question, ...answers]), port, address);
  });
  await new Promise<void>((resolve) => {
    socket.bind(0, '127.0.0.1', resolve);
  });
  const { port }: AddressInfo = socket.address();
  return {
    address: `127.0.0.1:${String(port)}`,
    close: () => new Promise<void>((resolve) => socket.close(resolve)),
  };
}

function toRecord({ name, port }: SrvTarget): Buffer {
  const labels = name
    .split('.')
    .map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  const data = Buffer.concat([words(0, 0, port), ...labels, Buffer.of(0)]);
  return Buffer.concat([words(NAME_OF_QUESTION, SRV, INTERNET, 0, 0, data.length), data]);
}

/** 16-bit numbers, the highest byte first. */
function words(...numbers: readonly number[]): Buffer {
  return Buffer.from(numbers.flatMap((each) => [each >> 8, each & 0xff]));
}
