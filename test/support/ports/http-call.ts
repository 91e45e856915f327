import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { repeated } from '../repeated';
import { readAnswers, type HttpAnswer } from './http-answer';
import { turn, type PlayedSocket } from './played-ports';

const HEADER = /^([A-Za-z][\w-]*): ?(.*)$/s;

/**
 * Sends `METHOD TARGET [VERSION] | NAME: VALUE | BODY` on a connection of its own, or, where `isRaw`, the text as it is. `no Host` is a
 * request without this header, `from ADDRESS` says who asks; one that `leaves` waits for no answer.
 */
export async function sendAsked(
  connect: (from?: string) => PlayedSocket,
  asked: string,
  isRaw: boolean,
): Promise<readonly HttpAnswer[]> {
  const parts = asked.split(' | ');
  const from = parts.find((part) => part.startsWith('from '))?.slice(5);
  const leaves = parts.includes('leaves');
  const said = parts.filter((part) => part !== 'leaves' && !part.startsWith('from '));
  const bytes = isRaw ? unescaped(asked) : toBytes(said);
  const socket = connect(from);
  if (!leaves) return exchange(socket, bytes, asked.startsWith('HEAD '));
  socket.write(bytes);
  await turn();
  socket.destroy();
  return [];
}

/** Sends bytes, and reads what comes until the server ends the connection. */
export async function exchange(
  socket: PlayedSocket,
  bytes: Buffer,
  isHead = false,
): Promise<readonly HttpAnswer[]> {
  const came = new Promise<Buffer>((resolve) => {
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    const give = (): void => {
      resolve(Buffer.concat(chunks));
    };
    // One that is cut off has no end.
    socket.on('end', give).on('close', give);
  });
  socket.write(bytes);
  const answers = readAnswers(await came, isHead);
  socket.destroy();
  return answers;
}

function toBytes([line = '', ...parts]: readonly string[]): Buffer {
  const [method = '', target = '', version = 'HTTP/1.1'] = line.split(' ');
  const headers = parts.filter((part) => HEADER.test(part));
  const [text] = parts.filter((part) => !HEADER.test(part) && part !== 'no Host');
  const body = text === undefined ? Buffer.alloc(0) : toBody(text);
  const add = (name: string, value: string): void => {
    if (!headers.some((header) => header.startsWith(`${name}:`))) headers.push(`${name}: ${value}`);
  };
  if (!parts.includes('no Host')) add('Host', 'localhost');
  add('Connection', 'close');
  if (text !== undefined || method.startsWith('P')) add('Content-Length', String(body.length));
  const head = [`${method} ${target} ${version}`, ...headers, '', ''].map(unescaped);
  const lines = head.flatMap((part, at) => (at === 0 ? [part] : [Buffer.from('\r\n'), part]));
  return Buffer.concat([...lines, body]);
}

const PACK = { gzip: gzipSync, deflate: deflateSync, br: brotliCompressSync } as const;

/** `gzip(TEXT)`, `deflate(TEXT)`, `br(TEXT)` or the text. */
function toBody(text: string): Buffer {
  const [, how, packed = ''] = /^(gzip|deflate|br)\((.*)\)$/s.exec(text) ?? [];
  return how === undefined ? unescaped(text) : PACK[how as keyof typeof PACK](unescaped(packed));
}

const CODES: Readonly<Record<string, string>> = { r: '\r', n: '\n', 0: '\0' };

/** `\r`, `\n`, `\0` and `\xHH` are bytes. */
function unescaped(text: string): Buffer {
  const pieces = repeated(text).split(/(\\(?:[rn0]|x[\da-f]{2}))/);
  return Buffer.concat(
    pieces.map((piece, at) => {
      if (at % 2 === 0) return Buffer.from(piece);
      const code = CODES[piece.charAt(1)];
      return code === undefined ? Buffer.from(piece.slice(2), 'hex') : Buffer.from(code);
    }),
  );
}

/** `STATUS STATUS | PART | PART`: the parts are of the last answer, which tells no more than they ask for. */
export function answersLike(expected: string, answers: readonly HttpAnswer[]): string {
  const last = answers.at(-1);
  const statuses = answers.map(({ status }) => String(status)).join(' ');
  const [, ...parts] = expected.split(' | ');
  if (last === undefined) return 'nothing';
  return [statuses, ...parts.map((part) => partLike(part, last))].join(' | ');
}

/** `NAME: VALUE` (`none`: there is no such header), `~PART` of the body, `empty`, or all of it. With `~` a value is a part, too. */
function partLike(expected: string, { headers, body }: HttpAnswer): string {
  const [, name, value = ''] = HEADER.exec(expected) ?? [];
  if (name !== undefined)
    return `${name}: ${textLike(value, headers.get(name.toLowerCase()) ?? 'none')}`;
  return textLike(expected, body === '' ? 'empty' : body.replaceAll('\n', '\\n'));
}

function textLike(expected: string, text: string): string {
  return expected.startsWith('~') && text.includes(expected.slice(1)) ? expected : text;
}
