import type { Observable } from 'rxjs';
import type { UserInfoResponse } from '../contract/user-info';
import { callUserinfo, type Fetch } from './call-userinfo';
import { loadRxjs } from './load-rxjs';

export interface IdentityClientOptions {
  /** The address of the service: `https://identity.example.com`; a path before `/v1` is kept. */
  readonly baseUrl: string;
  /** Sent as `X-API-Key`. */
  readonly apiKey?: string;
  /** Time limit of a whole call; 10 s by default. */
  readonly timeoutMs?: number;
  /** Default: the platform's. */
  readonly fetch?: Fetch;
}

export interface CallOptions {
  /** Ends the call early. */
  readonly signal?: AbortSignal;
}

const DEFAULT_TIMEOUT_MS = 10_000;
const PATH = '/v1/userinfo';

/** Looks up the user of a token at an identity service. Holds no connection and needs no closing. */
export class IdentityClient {
  readonly #url: string;
  readonly #apiKey: string | undefined;
  readonly #timeoutMs: number;
  readonly #fetch: Fetch;

  /** Throws a TypeError when `baseUrl` is not an http address or `timeoutMs` is not a time. */
  constructor({ baseUrl, apiKey, timeoutMs = DEFAULT_TIMEOUT_MS, fetch }: IdentityClientOptions) {
    if (!/^https?:\/\/[^/?#@\s]+(?:\/[^?#\s]*)?$/i.test(baseUrl))
      throw new TypeError(
        'baseUrl: expected http://<host> or https://<host>, without credentials and query',
      );
    if (!(timeoutMs > 0 && timeoutMs < 2 ** 31))
      throw new TypeError(`timeoutMs ${String(timeoutMs)}: expected milliseconds above 0`);
    this.#url = baseUrl.replace(/\/+$/, '') + PATH;
    this.#apiKey = apiKey;
    this.#timeoutMs = timeoutMs;
    this.#fetch = fetch ?? ((url, init) => globalThis.fetch(url, init));
  }

  /** Rejects with an `AuthenticationError` (401) or an `APIError` (everything else). */
  getUserInfo(token: string, { signal }: CallOptions = {}): Promise<UserInfoResponse> {
    return callUserinfo({
      url: this.#url,
      apiKey: this.#apiKey,
      timeoutMs: this.#timeoutMs,
      fetch: this.#fetch,
      token,
      signal,
    });
  }

  /** The same as a stream: one call per subscription, aborted with it. Needs the package rxjs. */
  getUserInfo$(token: string): Observable<UserInfoResponse> {
    const { Observable: Stream } = loadRxjs();
    return new Stream((subscriber) => {
      const controller = new AbortController();
      this.getUserInfo(token, { signal: controller.signal }).then(
        (response) => {
          subscriber.next(response);
          subscriber.complete();
        },
        (error: unknown) => {
          subscriber.error(error);
        },
      );
      return () => {
        controller.abort();
      };
    });
  }
}
