import { repeated } from '../repeated';
import {
  ACK,
  data,
  END_HEADERS,
  END_STREAM,
  field,
  frame,
  hello,
  PADDED,
  ping,
  request,
  rst,
  settings,
  settingsAck,
  Type,
  windowUpdate,
} from '../h2-frames';

type Words = readonly string[];

/** `window 0 5, request 1 open x=y`: frames as a script says them, each by its first word. */
export function readFrames(text: string): Buffer {
  return Buffer.concat(
    repeated(text)
      .split(', ')
      .map((one) => {
        const [word = '', ...words] = one.split(' ');
        const make = FRAMES[word];
        if (make === undefined)
          throw new Error(`expected ${Object.keys(FRAMES).join(', ')}: ${one}`);
        return make(words);
      }),
  );
}

const FRAMES: Readonly<Record<string, (words: Words) => Buffer>> = {
  hello: (words) => hello(...words.map(toSetting)),
  settings: (words) => settings(...words.map(toSetting)),
  ack: settingsAck,
  /** Bytes that are no frame; a blank is `_`. */
  bytes: ([text = '']) => Buffer.from(unescape(text), 'latin1'),
  /** `open`: its body follows. */
  request: ([id, ...words]) => {
    const flags = words.includes('open') ? 0 : END_STREAM;
    return request(Number(id), flags, ...words.filter((word) => word !== 'open').map(toField));
  },
  trailers: ([id, ...words]) =>
    frame(Type.headers, END_HEADERS | END_STREAM, Number(id), Buffer.concat(words.map(toField))),
  /** `end`: the last; `pad=N`: so many bytes of padding. */
  data: ([id, ...words]) => {
    const [text = ''] = words.filter((word) => word !== 'end' && !word.startsWith('pad='));
    const padding = words.find((word) => word.startsWith('pad='))?.slice(4);
    const flags = words.includes('end') ? END_STREAM : 0;
    const body = Buffer.from(text);
    if (padding === undefined) return data(Number(id), body, flags);
    const padded = [Buffer.from([Number(padding)]), body, Buffer.alloc(Number(padding))];
    return data(Number(id), Buffer.concat(padded), flags | PADDED);
  },
  rst: ([id, code]) => rst(Number(id), code === undefined ? undefined : Number(code)),
  window: ([id, by]) => windowUpdate(Number(id), Number(by)),
  ping: ([payload]) => ping(payload),
  pong: ([payload]) => ping(payload, ACK),
  /** Type, flags, stream and payload in hexadecimal digits. */
  frame: ([type, flags, id, payload = '']) =>
    frame(Number(type), Number(flags), Number(id), payload),
};

function toSetting(word: string): readonly [id: number, value: number] {
  const [id, value] = word.split('=');
  return [Number(id), Number(value)];
}

/** `NAME=VALUE`, `table:NAME=VALUE` for one that is kept in the table, or `hex:DIGITS`. */
function toField(word: string): Buffer {
  const [, how, text = ''] = /^(?:(table|hex):)?(.*)$/.exec(word) ?? [];
  if (how === 'hex') return Buffer.from(text, 'hex');
  const [name = '', value = ''] = text.split('=');
  return field(name, value, how === 'table' ? 0x40 : 0);
}

function unescape(text: string): string {
  return text.replaceAll('_', ' ').replaceAll('\\r', '\r').replaceAll('\\n', '\n');
}
