import { gzipSync } from 'node:zlib';
import { inflate } from '../../../../src/transport/grpc/wire/connections';
import { framed } from '../../../../src/wire/grpc/responses';
import { MESSAGE_BOUNDS } from '../../../support/bounds';
import { repeated } from '../../../support/repeated';
import { STREAM, UNARY, createGrpcCaller, frame, message } from './grpc-caller';

type Caller = ReturnType<typeof createGrpcCaller>;
type Words = readonly string[];

const TEXT = framed<string>({
  maxBytes: () => 100,
  write: (text, out, at) => at + Buffer.from(out.buffer, out.byteOffset).write(text, at),
});
const PATHS: Readonly<Record<string, string>> = { unary: UNARY, stream: STREAM };
const spaced = (text = ''): string => text.replaceAll('_', ' ');

/** A script of calls.txt: its lines with what came in place of what they expect. */
export function playCalls(lines: Words): Words {
  const [first = ''] = lines;
  const options = first.startsWith('with ')
    ? new Map(first.split(' ').slice(1).map(toPair))
    : new Map<string, string>();
  const maxBytes = Number(options.get('maxBytes') ?? MESSAGE_BOUNDS.maxBytes);
  const caller = createGrpcCaller({
    inflate,
    window: Number(options.get('window') ?? 2 ** 24),
    bounds: { ...MESSAGE_BOUNDS, maxBytes },
  });
  const replies = options.get('replies');
  const fails = options.get('fails');
  caller.onTold(({ what, callId, text = '' }) => {
    if (fails !== undefined) caller.grpc.fail(callId, { code: Number(fails), message: 'no' });
    else if (replies === undefined) return;
    else if (what === 'message') caller.grpc.send(callId, Buffer.from(`${replies}${text}`));
    else if (what === 'half-close') caller.grpc.finish(callId);
  });
  const told = { count: 0 };
  return lines.map((line) => (line.startsWith('with ') ? line : play(caller, told, line)));
}

const toPair = (word: string): readonly [string, string] => {
  const [name = '', value = ''] = word.split(/=(.*)/s);
  return [name, value];
};

const ACTS: Readonly<Record<string, (caller: Caller, words: Words) => void>> = {
  /** `open METHOD NAME=VALUE end`: the next stream; `NAME=-` leaves a header out. */
  open(caller, [method = '', ...words]) {
    const fields = words
      .filter((word) => word !== 'end')
      .map(toPair)
      .map(([name, value]) => [name, value === '-' ? undefined : spaced(repeated(value))] as const);
    caller.open(PATHS[method] ?? method, Object.fromEntries(fields), words.includes('end'));
  },
  /** `data 1 MESSAGE,MESSAGE first=7 open`: the first bytes alone, or no end. */
  data(caller, [id, text = '', ...words]) {
    const whole = Buffer.concat(text === '-' ? [] : text.split(',').map(toMessage));
    const first = words.find((word) => word.startsWith('first='))?.slice(6);
    caller.data(
      Number(id),
      whole.subarray(0, Number(first ?? whole.length)),
      !words.includes('open'),
    );
  },
  trailers: (caller, [id]) => {
    caller.trailers(Number(id));
  },
  reset: (caller, [id, code]) => {
    caller.reset(Number(id), Number(code ?? 8));
  },
  lost: ({ grpc }) => {
    grpc.http2.connectionLost();
  },
  window: (caller, [id, by]) => {
    const payload = Buffer.alloc(4);
    payload.writeUInt32BE(Number(by));
    caller.send(frame(8, 0, Number(id), payload));
  },
  refuse: (caller, [is]) => {
    caller.refuseCalls(is === 'all');
  },
  read: (caller) => {
    caller.grpc.readOn();
  },
  answer: ({ grpc }, [call, text]) => {
    grpc.answer(Number(call), spaced(text), TEXT);
  },
  fail: ({ grpc }, [call, code, text]) => {
    grpc.fail(Number(call), { code: Number(code), message: spaced(text) });
  },
  send: ({ grpc }, [call, text = '']) => {
    grpc.send(Number(call), Buffer.from(repeated(text)));
  },
  finish: ({ grpc }, [call]) => {
    grpc.finish(Number(call));
  },
};

/** `TEXT`, `TEXT!FLAG`, or `gzip(TEXT)!1`; `raw:DIGITS` has no prefix. */
function toMessage(text: string): Buffer {
  if (text.startsWith('raw:')) return Buffer.from(text.slice(4), 'hex');
  const [, packed, plain = '', flag = '0'] =
    /^(?:gzip\((.*)\)|([^!]*))(?:!(\d))?$/.exec(text) ?? [];
  const content = packed === undefined ? Buffer.from(repeated(plain)) : gzipSync(repeated(packed));
  return message(content, Number(flag));
}

function play(caller: Caller, told: { count: number }, line: string): string {
  const [word = '', ...words] = line.split(' ');
  if (word === 'told') {
    const events = caller.told.slice(told.count);
    told.count = caller.told.length;
    return `told ${events.length === 0 ? 'nothing' : events.map(eventOf).join('; ')}`;
  }
  if (word === 'heard') return `heard ${words[0] ?? ''} ${heardOf(caller, Number(words[0]))}`;
  if (word === 'is') {
    const { openCalls, heldBytes, http2 } = caller.grpc;
    const failure = http2.failure?.errorCode ?? 'none';
    return `is calls=${String(openCalls)} held=${String(heldBytes)} failure=${String(failure)}`;
  }
  const act = ACTS[word];
  if (act === undefined) throw new Error(`expected ${Object.keys(ACTS).join(', ')}: ${line}`);
  act(caller, words);
  caller.read();
  return line;
}

/** `message 0 TEXT`; of a long text its length. */
function eventOf({ what, callId, text }: Caller['told'][number]): string {
  if (text === undefined) return `${what} ${String(callId)}`;
  return `${what} ${String(callId)} ${text.length > 99 ? String(text.length) : text}`;
}

/** `HEADER, HEADER | BODY | ends`: without those of every call; the body as its messages. */
function heardOf({ on }: Caller, id: number): string {
  const { headers, body, ended, resetCode } = on(id);
  const known = [':status: 200', 'content-type: application/grpc'];
  const others = headers.filter((header) => !known.includes(header));
  const messages: string[] = [];
  for (let at = 0; at < body.length;) {
    const end = at + 5 + body.readUInt32BE(at + 1);
    messages.push(body.toString('utf8', at + 5, end));
    at = end;
  }
  const reset = resetCode === undefined ? [] : [`reset ${String(resetCode)}`];
  const how = [ended ? 'ends' : 'goes on', ...reset].join(', ');
  return [others.join(', '), messages.join(','), how].filter((part) => part !== '').join(' | ');
}
