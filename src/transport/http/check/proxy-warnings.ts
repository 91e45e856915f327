import { WORDS, type Check } from '../../../request-maps/check/check';
import type { CallFacts } from './call-facts';
import type { AskedCheck } from './check-call';

/** Takes a line for the log. */
export type WarnOfProxy = (message: string, fields: Readonly<Record<string, string>>) => void;

const UNTRUSTED =
  'a call to /check comes from a peer that is not a trusted proxy, so its forwarding headers are ignored and the peer itself is ' +
  'limited; add its address to trusted_proxies, if it is the proxy';
const AMISS =
  'a call to /check is refused, because its proxy does not send what the check needs; set it up as docs/proxies says';

/** One line for each check and kind of mistake: clients could fill the log otherwise. A check that is loaded again may be warned of again. */
export function createProxyWarnings(warn: WarnOfProxy) {
  const untrusted = new WeakSet<Check>();
  const amiss = new WeakSet<Check>();
  return {
    /** A peer that is not trusted calls; it matters where it sends what the proxy would. */
    untrusted(facts: CallFacts, { check, name }: AskedCheck): void {
      if (check.proxy === undefined || untrusted.has(check)) return;
      const header = Object.values(WORDS[check.proxy]).find(
        (each) => each !== undefined && each !== 'host' && facts.header(each) !== undefined,
      );
      if (header === undefined) return;
      untrusted.add(check);
      warn(UNTRUSTED, { check: name, peer: facts.peer, header });
    },
    /** A trusted proxy does not send a header as it should. */
    amiss(header: string, { check, name }: AskedCheck): void {
      if (amiss.has(check)) return;
      amiss.add(check);
      warn(AMISS, { check: name, proxy: check.proxy ?? '', header });
    },
  };
}
