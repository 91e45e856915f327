import { crc32 } from 'node:zlib';
import { toBase62 } from '../../../src/identity/credential';
import { StoreUnavailable, type IdentityStore } from '../../../src/identity/store/store';
import { ANN, grant, grantApiKey, startIdentity } from '../identity';
import { problemsOfAnswer } from '../identity-document';
import { toSeconds } from '../scenario/read-scenarios';
import { answersLike, sendAsked } from './http-call';
import type { HttpAnswer } from './http-answer';
import { playPorts } from './played-ports';
import type { PortCase } from './read-port-cases';

const PORT = 8_180;
const HOUR_MS = 3_600_000;
const OVER = { isOver: true, limit: 7, resetSeconds: 42 };

type Identity = Awaited<ReturnType<typeof start>>;

/** The lines of a case of the identity service, with what came in place of what it expects. Ann has a session and the token `$token`. */
export async function playIdentityCase(one: PortCase): Promise<readonly string[]> {
  const ports = playPorts();
  const identity = await start(one.settings);
  const connect = (from?: string) => ports.connect(PORT, from);
  const played: string[] = [];
  for (const line of one.lines) played.push(await play(line, identity, connect));
  await identity.stop();
  ports.end();
  return played;
}

async function start(settings: PortCase['settings']) {
  const { corsOrigins, profile, trustedProxies, failure } = settings;
  const failures = new Map<string, Error>();
  const identity = await startIdentity(
    {
      address: { host: '', port: PORT },
      ...(corsOrigins !== undefined && { corsOrigins: [corsOrigins] }),
      ...(profile === 'full' && { profile }),
      ...(trustedProxies !== undefined && {
        trustedProxies: [{ address: trustedProxies, prefix: undefined }],
      }),
    },
    failure === 'deny' ? { failure } : {},
    (store) => whichFails(store, failures),
  );
  const { token, tokenId, sessionId } = await grant(identity.store, ANN, HOUR_MS);
  const body = `idt_${tokenId}${'0'.repeat(43)}`;
  const values = new Map([
    ['token', token],
    // Each is one fault away from a good one.
    ['mistyped', token.slice(0, -1) + (token.endsWith('0') ? '1' : '0')],
    ['unknown', withChecksum(`idt_${'0'.repeat(59)}`)],
    ['othersecret', withChecksum(body)],
    ['unknownkey', withChecksum(`idk_${'0'.repeat(59)}`)],
  ]);
  const ids = new Map([['token', { tokenId, sessionId }]]);
  const first: { answer?: string } = {};
  return { ...identity, values, ids, failures, first };
}

const withChecksum = (body: string): string => body + toBase62(BigInt(crc32(body)), 6);

/** Each method rejects with what `failures` says of it. */
function whichFails(store: IdentityStore, failures: ReadonlyMap<string, Error>): IdentityStore {
  const fail = (name: string): void => {
    const failure = failures.get(name);
    if (failure !== undefined) throw failure;
  };
  return {
    ...store,
    async findToken(id) {
      fail('findToken');
      return store.findToken(id);
    },
    async findOwner(session) {
      fail('findOwner');
      return store.findOwner(session);
    },
    async apiKeys() {
      fail('apiKeys');
      return store.apiKeys();
    },
  };
}

type Act = (identity: Identity, words: readonly string[]) => unknown;

const ACTS: Readonly<Record<string, Act>> = {
  /** `grant NAME [MS]`: another session of Ann, with a token that lasts as long. */
  async grant({ store, values, ids }, [name = '', ms]) {
    const { token, ...both } = await grant(store, ANN, HOUR_MS, ms ? Number(ms) : undefined);
    values.set(name, token);
    ids.set(name, both);
  },
  async 'grant-to-nobody'({ store, values }) {
    const lists = { emails: [], photos: [], verifications: [] };
    const nobody = { ...ANN, ...lists, id: 'nobody', userName: '' };
    values.set('nobody', (await grant(store, nobody, HOUR_MS)).token);
  },
  async key({ store, values }, [name = '']) {
    const { apiKey, id } = await grantApiKey(store, name);
    values.set(name, apiKey).set(`${name}id`, id);
    values.set(`${name}as`, apiKey.replace('idk_', 'idt_'));
    values.set(`${name}other`, withChecksum(apiKey.slice(0, 20) + '0'.repeat(43)));
  },
  revoke: ({ store, ids, values }, [what, name = 'token']) => {
    const id = ids.get(name);
    if (what === 'token') return store.deleteToken(id?.tokenId ?? '');
    if (what === 'session') return store.deleteSession(id?.sessionId ?? '');
    return store.deleteApiKey(values.get(`${name}id`) ?? '');
  },
  disable: ({ store }) => store.putUsers([{ ...ANN, active: false }]),
  delete: ({ store }) => store.deleteUser('ann'),
  over: ({ over }, [descriptor = '', limit = '7', reset = '42']) =>
    over.set(descriptor, { ...OVER, limit: Number(limit), resetSeconds: Number(reset) }),
  under: ({ over }) => {
    over.clear();
  },
  limits: ({ fail }) => {
    fail(new Error('away'));
  },
  store: ({ failures }, [method = '', how]) =>
    failures.set(method, how === 'away' ? new StoreUnavailable('away') : new Error('oops')),
};

async function play(
  line: string,
  identity: Identity,
  connect: Parameters<typeof sendAsked>[0],
): Promise<string> {
  const { clock, asked, metrics, lines } = identity;
  const [word = '', ...words] = line.split(' ');
  const rest = words.join(' ');
  const ms = toSeconds(line.replace(/^-/, '+'));
  if (ms !== undefined) clock.nowMs += (line.startsWith('-') ? -1_000 : 1_000) * ms;
  else if (word === 'asked') return `asked ${asked.splice(0).join('; ') || 'nothing'}`;
  else if (word === 'metrics') return (await metrics.print()).includes(rest) ? line : 'metrics not';
  else if (word === 'log') return `log ${levelsOf(lines.splice(0))}`;
  else if (ACTS[word] !== undefined) await ACTS[word](identity, words);
  else return ask(line, identity, connect);
  return line;
}

/** The levels of what was logged; nothing of it tells who asked with what. */
function levelsOf(lines: Identity['lines']): string {
  const told = /idt_|ann|Bearer|127\.0\.0\.1/.exec(JSON.stringify(lines))?.[0];
  return told === undefined ? lines.map(({ level }) => level).join(' ') : `tells ${told}`;
}

async function ask(
  line: string,
  { values, first }: Identity,
  connect: Parameters<typeof sendAsked>[0],
): Promise<string> {
  const [asked = '', expected = ''] = line.split(' -> ');
  const text = asked.replace(/\$([a-z]+)/g, (word, name: string) => values.get(name) ?? word);
  const isRaw = text.startsWith(': ');
  const answers = await sendAsked(connect, isRaw ? text.slice(2) : text, isRaw);
  const told = answersLike(expected.replace(' | same', ''), answers);
  const [answer] = answers;
  if (answer === undefined) return `${asked} -> ${told}`;
  const isSame = expected.includes(' | same') && whole(answer) === (first.answer ??= whole(answer));
  return `${asked} -> ${told}${isSame ? ' | same' : ''}${faultOf(answer, text)}`;
}

/** All but the time. */
const whole = ({ status, headers, body }: HttpAnswer): string =>
  JSON.stringify([status, [...headers].filter(([name]) => name !== 'date'), body]);

/** What every answer carries, whatever its status: what the OpenAPI document says of it, and no more. */
function faultOf({ status, headers, body }: HttpAnswer, asked: string): string {
  const [, method = 'get'] = /^(head|options)\b/.exec(asked.toLowerCase()) ?? [];
  const answer = { status, headers: Object.fromEntries(headers), body };
  const [problem] = problemsOfAnswer(answer, method as 'get' | 'head' | 'options');
  return problem === undefined ? '' : ` | NOT AS DOCUMENTED: ${problem}`;
}
