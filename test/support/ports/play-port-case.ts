import { toSeconds } from '../scenario/read-scenarios';
import { callGrpc, calledLike } from './grpc-call';
import type { HttpAnswer } from './http-answer';
import { answersLike, sendAsked } from './http-call';
import { startApp, type PlayedApp, type StoreState } from './played-app';
import { turn } from './played-ports';
import type { PortCase } from './read-port-cases';

/** The lines of a case, with what came in place of what it expects. */
export async function playPortCase(one: PortCase): Promise<readonly string[]> {
  const [first = ''] = one.lines;
  if (first.startsWith('start fails ')) return [await playFailedStart(one, first)];
  const app = await startApp(one);
  const played: string[] = [];
  try {
    for (const line of one.lines) played.push(await play(line, app, one));
  } finally {
    await app.stop();
  }
  return played;
}

async function playFailedStart(one: PortCase, line: string): Promise<string> {
  try {
    await (await startApp(one)).stop();
    return 'it starts';
  } catch (error) {
    const { message } = error as Error;
    const [, expected = ''] = line.split('start fails ~');
    return message.includes(expected) ? line : `start fails ${message}`;
  }
}

type Act = (more: string, app: PlayedApp, one: PortCase) => Promise<void> | void;

/** Steps that are told as they stand. */
const ACTS: Readonly<Record<string, Act>> = {
  store: (state, app) => {
    app.setStore(state as StoreState);
  },
  rules: (version, app, { versions }) => app.setRules(versions[version] ?? ''),
  write: (more, app) => {
    app.writeFile(more.split(' ')[0] ?? '', more.replace(/^\S+ ?/, ''));
  },
  redis: async (more, app) => {
    const [command = '', ...words] = more.split(' ');
    await app.redis?.call(command, ...words);
  },
  remove: (name, app) => {
    app.removeFile(name);
  },
};

async function play(line: string, app: PlayedApp, one: PortCase): Promise<string> {
  const seconds = toSeconds(line);
  const [word = '', more = ''] = line.split(/ (.*)/s);
  const act = ACTS[word];
  if (seconds !== undefined) app.setTime(Math.round((app.now() + seconds) * 1_000) / 1_000);
  else if (word === 'statistics') return `${word} ${statisticsOf(more, app)}`;
  else if (word === 'log') return `${word} ${logLike(more, app)}`;
  else if (act === undefined) return ask(line, app);
  else await act(more, app, one);
  return line;
}

async function ask(line: string, app: PlayedApp): Promise<string> {
  const [asked = '', expected] = line.split(' -> ');
  const [, port = '', separator, text = ''] =
    /^(http|debug|grpc|metrics)(:?) (.*)$/s.exec(asked) ?? [];
  if (port === '' || expected === undefined)
    throw new Error(`expected a step of docs/internals/testing.md, or CALL -> ANSWER: ${line}`);
  const told = await answerLike(
    { port: port as Port, isRaw: separator === ':', text, expected },
    app,
  );
  return `${asked} -> ${told}`;
}

type Port = keyof PlayedApp['ports'];

interface Asked {
  readonly port: Port;
  /** Bytes as they are. */
  readonly isRaw: boolean;
  readonly text: string;
  readonly expected: string;
}

async function answerLike({ port, isRaw, text, expected }: Asked, app: PlayedApp): Promise<string> {
  const connect = (from?: string) => app.connect(app.ports[port], from);
  if (port === 'grpc') {
    const called = await callGrpc(connect(), text);
    await turn();
    return calledLike(text, expected, called);
  }
  const answers: HttpAnswer[] = [];
  for (const one of isRaw ? [text] : eachCall(text, expected)) {
    answers.push(...(await sendAsked(connect, one, isRaw)));
    await turn();
  }
  return answersLike(expected, answers);
}

/** `GET /ONE,/OTHER` are calls one after the other; a call of one target is made as often as there are statuses. */
function eachCall(text: string, expected: string): readonly string[] {
  const [, method = '', targets = '', rest = ''] = /^(\S+) (\S+)(.*)$/s.exec(text) ?? [];
  const each = targets.split(/,(?=\/)/).map((target) => `${method} ${target}${rest}`);
  const statuses = /^\w+(?: \d{3})*/.exec(expected)?.[0].split(' ') ?? [];
  return each.length > 1 ? each : statuses.map(() => text);
}

/** `NAME=VALUE NAME=VALUE`, below `ratelimit.`, or whole names. */
function statisticsOf(pairs: string, app: PlayedApp): string {
  const counted = app.counted();
  return pairs
    .split(' ')
    .map((pair) => pair.replace(/=.*/, ''))
    .map((name) => {
      const whole = name.startsWith('ratelimit') ? name : `ratelimit.${name}`;
      return `${name}=${String(counted.get(whole) ?? 0)}`;
    })
    .join(' ');
}

/** What was logged since the last time: `LEVEL TEXT; LEVEL TEXT`, each a part of its line, or `nothing`. */
function logLike(expected: string, { lines }: PlayedApp): string {
  const logged = lines
    .splice(0)
    .map(({ level, message, fields }) => `${level} ${message} ${JSON.stringify(fields)}`);
  const wanted = expected.split('; ');
  const told = logged.map((line, at) => {
    const [level = '', text = ''] = (wanted[at] ?? '').split(/ (.*)/s);
    return text !== '' && line.startsWith(`${level} `) && line.includes(text) ? wanted[at] : line;
  });
  return told.length === 0 ? 'nothing' : told.join('; ');
}
