import { describeFrame, Type, type SeenFrame } from '../h2-frames';
import { repeated } from '../repeated';
import { COPY, createH2Session, type H2Session, openH2Session } from '../h2-session';
import { readFrames } from './read-frames';

const HEADERS = Buffer.from([0x88]);
const TRAILERS = Buffer.from([0x89]);
const BLOCKS = { headers: HEADERS, trailers: TRAILERS };
const ROOT = ':method=POST :path=/ :scheme=http :authority=rls.test';

/** A script: its lines with what came in place of what they expect. */
export function playFrames(lines: readonly string[]): readonly string[] {
  const [first = ''] = lines;
  const begins = /^(?:fresh|with)/.test(first) ? first : 'with';
  let play = createPlay(start(begins.split(' ')));
  return lines.map((line) => {
    if (line === begins) return line;
    if (!line.startsWith('try ')) return play(line);
    const session = start(begins.split(' '));
    play = createPlay(session);
    return tryFrames(session, line);
  });
}

/** `try FRAMES -> REPLIES, ends` (or `goes on`) `| EVENT | EVENT` in a session of its own: those of resets, and the last. */
function tryFrames(session: H2Session, line: string): string {
  const [said = ''] = line.split(' -> ');
  session.send(readFrames(said.replace('try ', '')));
  const { connection, events } = session;
  const { failure, wantsClose, openStreams } = connection;
  const replies = session.replies();
  const ends = `goAway ${String(failure?.errorCode)} `;
  const isOver = wantsClose && openStreams === 0 && replies.at(-1)?.startsWith(ends) === true;
  const state = failure === undefined && !wantsClose ? 'goes on' : isOver ? 'ends' : 'is broken';
  const told = events.filter((event, at) => event.startsWith('reset') || at === events.length - 1);
  const words = [...told].map((event) => event.replace(ROOT, 'root'));
  return `${said} -> ${[...replies, state].join(', ')}${words.map((word) => ` | ${word}`).join('')}`;
}

/** `fresh`: nothing was sent yet; `with NAME=VALUE`: options; `answers=TEXT` sends that on each whole request, `accepts` headers. */
function start([first = '', ...words]: readonly string[]): H2Session {
  const pairs = words.map((word) => word.split('=') as [string, string]);
  const answer = pairs.find(([name]) => name === 'answers')?.[1];
  const body = pairs.find(([name]) => name === 'sends')?.[1];
  const numbers = pairs.filter(([name]) => !['answers', 'sends', 'accepts'].includes(name));
  return (first === 'fresh' ? createH2Session : openH2Session)({
    ...Object.fromEntries(numbers.map(([name, value]) => [name, Number(value)])),
    onComplete({ connection }, stream) {
      if (answer !== undefined)
        connection.sendUnary(stream, BLOCKS, Buffer.from(repeated(answer)), COPY);
      if (body !== undefined) connection.sendData(stream, Buffer.from(repeated(body)), true);
      if (words.includes('accepts')) connection.sendHeaders(stream, HEADERS, true);
    },
  });
}

function createPlay(session: H2Session) {
  let frames: readonly SeenFrame[] = [];
  let lastPing = '';
  let eventsTold = 0;
  const reply = (line: string): string => {
    frames = session.frames();
    lastPing = frames.find(({ type }) => type === Type.ping)?.payload.toString('hex') ?? lastPing;
    const [said = '', expected] = line.split(' -> ');
    if (expected === undefined) return line;
    const told = frames.map(describeFrame).join(', ');
    return `${said} -> ${told === '' ? 'nothing' : told}`;
  };
  const tell = (expected: string): string => {
    const events = session.events.slice(eventsTold).map((event) => event.replace(ROOT, 'root'));
    eventsTold = session.events.length;
    const told = events.length === 0 ? 'nothing' : events.join('; ');
    return told === repeated(expected) ? expected : told;
  };
  const send = (line: string, ...pieces: readonly Uint8Array[]): string => {
    for (const piece of pieces) session.send(Buffer.from(piece));
    return reply(line);
  };
  /** By the first word of a line: what it becomes, of the line, its words without what they expect, and all of them. */
  const steps: Readonly<Record<string, (line: string, said: string, rest: string) => string>> = {
    '>': (line, said) => send(line, readFrames(said)),
    each: (line, said) => send(line, ...[...readFrames(said)].map((byte) => Buffer.of(byte))),
    /** The first bytes of a frame. */
    part(line, said) {
      const [bytes, frame = ''] = said.split(/ (.*)/s);
      return send(line, readFrames(frame).subarray(0, Number(bytes)));
    },
    /** The answer to the last PING of ours. */
    answer: (line) => send(line, readFrames(`pong ${lastPing}`)),
    flood: (line, said) => countLike(line, flood(session, said, true)),
    pour: (line, said) => countLike(line, flood(session, said, false)),
    do(line, said) {
      act(session, said);
      return reply(line);
    },
    told: (_line, _said, rest) => `told ${tell(rest)}`,
    payloads: () => `payloads ${frames.map(({ payload }) => payload.toString('hex')).join(' ')}`,
    calm: () => `calm ${calmOf(session)}`,
    is: (_line, said) =>
      `is ${said
        .split(' ')
        .map((one) => stateOf(session, one))
        .join(' ')}`,
  };
  return (line: string): string => {
    const [word = '', rest = ''] = line.split(/ (.*)/s);
    const step = steps[word];
    if (step !== undefined) return step(line, rest.split(' -> ')[0] ?? '', rest);
    if (!/^\+\d+$/.test(word))
      throw new Error(`expected ${Object.keys(steps).join(', ')}: ${line}`);
    session.nowMs += Number(word);
    session.connection.tick(session.nowMs);
    return reply(line);
  };
}

function countLike(line: string, sent: number): string {
  const [said = '', expected] = line.split(' -> ');
  return expected === undefined ? line : `${said} -> ${String(sent)}`;
}

/**
 * `COUNT FRAMES`: 1 KiB or so per read, and, where its answers are read, each read's taken; `{id}` is the next stream. Ends with the
 * connection; answers how many went out.
 */
function flood(session: H2Session, said: string, isRead: boolean): number {
  const [count = '', frames = ''] = said.split(/ (.*)/s);
  const piece = (at: number) => readFrames(frames.replaceAll('{id}', String(1 + 2 * at)));
  const size = Math.max(1, Math.floor(1024 / piece(0).length));
  for (let sent = 0; sent < Number(count); sent += size) {
    if (session.connection.wantsClose) return sent;
    session.send(
      ...Array.from({ length: Math.min(size, Number(count) - sent) }, (_, at) => piece(sent + at)),
    );
    if (isRead) session.connection.takeOutput();
  }
  return Number(count);
}

/** What the owner does: `headers 1 end`, `send 1 TEXT end`, `unary 1 TEXT`, `reset 1 8`, `ping 7`, `drain WHY`, `goaway 0 WHY`. */
function act(session: H2Session, said: string): void {
  const { connection } = session;
  const [what = '', first = '', second = '', ...more] = said.split(' ');
  const isLast = said.endsWith(' end');
  const stream = () => session.stream(Number(first));
  const text = Buffer.from(repeated(second === 'end' ? '' : second));
  const acts: Readonly<Record<string, () => void>> = {
    headers: () => {
      connection.sendHeaders(stream(), isLast ? TRAILERS : HEADERS, isLast);
    },
    send: () => {
      connection.sendData(stream(), text, isLast);
      text.fill(0);
    },
    unary: () => {
      connection.sendUnary(stream(), BLOCKS, text, COPY);
    },
    reset: () => {
      connection.reset(stream(), Number(second));
    },
    ping: () => {
      connection.ping(Number(first));
    },
    drain: () => {
      connection.startDrain(first);
    },
    finish: () => {
      connection.finishDrain();
    },
    goaway: () => {
      connection.goAway(Number(first), [second, ...more].join(' '));
    },
    lost: () => {
      connection.connectionLost();
    },
  };
  const does = acts[what];
  if (does === undefined) throw new Error(`expected ${Object.keys(acts).join(', ')}: ${said}`);
  does();
}

/** The budget for which a connection was ended, if it is ended as it shall be then. */
function calmOf({ connection }: H2Session): string {
  const { failure, wantsClose, openStreams, queuedResponseBytes } = connection;
  const isOver = wantsClose && openStreams === 0 && queuedResponseBytes === 0;
  return failure?.errorCode === 11 && isOver ? (failure.budget ?? 'none') : 'not';
}

/** `NAME=VALUE`, or `requests<VALUE`. */
function stateOf({ connection, stream }: H2Session, one: string): string {
  const [, name = '', sign = '', value = ''] = /^([a-z]+(?:#\d+)?)([=<])(.*)$/.exec(one) ?? [];
  const { failure } = connection;
  const id = Number(name.split('#')[1]);
  const states: Readonly<Record<string, () => unknown>> = {
    failure: () => failure?.errorCode ?? 'none',
    closing: () => connection.wantsClose,
    open: () => connection.openStreams,
    requests: () => connection.requestCount,
    queued: () => connection.queuedResponseBytes,
    pending: () => connection.pendingOutputBytes,
    preface: () => connection.prefaceReceived,
    acked: () => connection.settingsAcked,
    draining: () => connection.draining,
    leaving: () => connection.peerLeaving,
    idle: () => connection.isIdle,
    [`queued#${String(id)}`]: () => connection.queuedBytes(stream(id)),
    [`closed#${String(id)}`]: () => stream(id).closed,
  };
  const is = states[name]?.();
  if (sign === '<' && Number(is) < Number(value)) return one;
  return `${name}=${String(is)}`;
}
