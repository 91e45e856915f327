import { type StoreError } from '../../../core/errors';
import { type HostAndPort } from '../options';
import { AnswerError } from '../store-errors';

/** Where an increment has to go that a node did not apply. */
export type Redirect =
  /** Its slot has another owner. */
  | { readonly kind: 'moved'; readonly to: HostAndPort }
  /** Its slot is on the way to another node, which takes it when it is asked to. */
  | { readonly kind: 'ask'; readonly to: HostAndPort }
  /** To the same node once more, by a plain command: a script only says that the key is not there. */
  | { readonly kind: 'withoutScripts' };

const ELSEWHERE =
  /non local key|hash to the same slot|CROSSSLOT|undeclared key|cluster is down|^TRYAGAIN/i;

/** What a failure says about the way; undefined when it is a failure. Nothing was applied in any case. */
export function toRedirect(error: StoreError, askedHost: string): Redirect | undefined {
  if (!(error instanceof AnswerError)) return undefined;
  const { answer } = error;
  const [, kind, host = '', port = ''] = /^(MOVED|ASK) \d+ (.*):(\d+)$/.exec(answer) ?? [];
  if (kind === undefined) return ELSEWHERE.test(answer) ? { kind: 'withoutScripts' } : undefined;
  const to = { host: host === '' ? askedHost : host, port: Number(port) };
  return { kind: kind === 'ASK' ? 'ask' : 'moved', to };
}

/** Answers that make the placement of slots doubtful without saying where to go. */
export function isClusterDoubtful(error: unknown): boolean {
  return error instanceof AnswerError && error.answer.startsWith('CLUSTERDOWN');
}
