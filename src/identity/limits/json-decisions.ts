import { type Decisions, DOMAIN, type RawDecision, readDecision } from './decisions';

export interface RemoteOptions {
  /** `host:port` of the decision service. */
  readonly target: string;
  readonly timeoutMs: number;
}

/** Decisions by `POST /json`. */
export function createJsonDecisions({ target, timeoutMs }: RemoteOptions): Decisions {
  const url = `http://${target}/json`;
  return {
    async ask(entries) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ domain: DOMAIN, descriptors: [{ entries }] }),
        redirect: 'error',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const body: unknown = await response.json();
      if (response.status !== 200 && response.status !== 429)
        throw new Error(`${url} answered ${String(response.status)}`);
      return readDecision(Object(body) as RawDecision);
    },
    close: () => Promise.resolve(),
  };
}
