import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { HttpTurns, TurnTaker } from './http-turns';

/** Pending requests of a connection from which on its bytes are parsed one request after the other. */
const MANY = 16;
const END_OF_HEAD = '\r\n\r\n';
const NOTHING = Buffer.alloc(0);

export interface PipelineDeps {
  readonly turns: HttpTurns;
  /** Handles a request: the previous one has been answered. */
  readonly begin: (response: ServerResponse) => void;
  /** Ends the connection: too many requests are pending. */
  readonly end: () => void;
}

type Parse = (bytes: Buffer) => void;

/**
 * The pipelined requests of one connection, handled one at a time. Node reads 64 KiB of a socket at once, parses them completely
 * and emits possibly two thousand requests. That happens once per connection; then its bytes are parsed here, head by head.
 */
export class HttpPipeline implements TurnTaker {
  readonly #socket: Socket;
  readonly #deps: PipelineDeps;
  /** Parsed and not answered, oldest first. */
  readonly #parsed = new Set<ServerResponse>();
  #begun: ServerResponse | undefined;
  /** The parser while bytes come here: Node's, and its handler for the end of the client's bytes. */
  #parse: Parse | undefined;
  #finish: (() => void) | undefined;
  #hasEnded = false;
  #rest: Buffer = NOTHING;
  #isMany = false;
  #isForgotten = false;
  #isRefused = false;
  #isPaused = false;
  #isWatched = false;

  constructor(socket: Socket, deps: PipelineDeps) {
    this.#socket = socket;
    this.#deps = deps;
    deps.turns.add(this);
    if (deps.turns.isResting) this.settleReading();
  }

  /** Bytes that were read and not parsed. */
  get waitingBytes(): number {
    return this.#rest.length;
  }

  get waiting(): number {
    return Math.max(0, this.#parsed.size - 1);
  }

  /** A request was parsed, at least its head. */
  take(response: ServerResponse): void {
    const { turns, begin } = this.#deps;
    if (this.#isForgotten) return;
    this.#parsed.add(response);
    if (this.#parsed.size === 1) {
      if (turns.take()) {
        this.#begun = response;
        begin(response);
      } else turns.later(this);
      return;
    }
    this.#isMany ||= this.#parsed.size > MANY;
    this.settleReading();
    turns.noteParsed();
  }

  /** A request has its answer, or will never have one. */
  close(response: ServerResponse): void {
    if (this.#isForgotten) return;
    if (this.#parsed.delete(response) && this.#parsed.size > 0) this.#deps.turns.noteGone();
    if (this.#begun === response) this.#begun = undefined;
    // The common case: nothing came after it.
    if (this.#parsed.size === 0 && !this.#isPaused && this.#parse === undefined) return;
    this.advance();
  }

  /** Nothing more is parsed: the connection ends with a refusal. */
  refuse(): void {
    this.#isRefused = true;
    this.#rest = NOTHING;
    this.settleReading();
  }

  end(): void {
    this.forget();
    this.#deps.end();
  }

  /** The socket is closed. */
  forget(): void {
    this.#deps.turns.remove(this);
    this.#isForgotten = true;
    this.#rest = NOTHING;
  }

  advance(): void {
    if (this.#isForgotten || !this.#socket.writable) return;
    this.#beginNext();
    this.#parseMore();
    this.settleReading();
    if (this.#hasEnded && this.#rest.length === 0 && this.#parsed.size === 0) {
      this.#hasEnded = false;
      this.#finish?.();
    }
  }

  #beginNext(): void {
    const [next] = this.#parsed;
    if (next === undefined || this.#begun !== undefined) return;
    if (this.#deps.turns.take()) {
      this.#begun = next;
      this.#deps.begin(next);
    } else this.#deps.turns.later(this);
  }

  #parseMore(): void {
    while (this.#rest.length > 0 && this.#mayParse()) {
      if (!this.#deps.turns.take()) {
        this.#deps.turns.later(this);
        return;
      }
      const at = this.#rest.indexOf(END_OF_HEAD);
      const end = at === -1 ? this.#rest.length : at + END_OF_HEAD.length;
      const piece = this.#rest.subarray(0, end);
      this.#rest = this.#rest.subarray(end);
      this.#parse?.(piece);
    }
  }

  /** Nothing is pending, except the rest of the current request's body. */
  #mayParse(): boolean {
    if (this.#isRefused || this.#socket.destroyed) return false;
    const [first] = this.#parsed;
    if (first === undefined) return true;
    return this.#parsed.size === 1 && this.#begun === first && !first.req.complete;
  }

  settleReading(): void {
    const isPaused = this.#mustPause();
    if (isPaused === this.#isPaused) return;
    this.#isPaused = isPaused;
    if (!isPaused) this.#socket.resume();
    else {
      this.#watch();
      this.#socket.pause();
    }
  }

  #mustPause(): boolean {
    if (this.#isRefused) return this.#isPaused && this.#parsed.size > 0;
    if (this.#deps.turns.isResting || this.#rest.length > 0 || this.#parsed.size > 1) return true;
    // A client that closes its side after its last request is still answered: the end is not read before.
    const [last] = this.#parsed;
    return this.#isPaused && last?.req.complete === true;
  }

  /** Node resumes a socket at the end of each request. */
  #watch(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    this.#socket.on('resume', () => {
      if (!this.#isPaused) {
        // Not earlier: a socket that is paused when the parser returns it is not read any more.
        if (this.#isMany) this.#takeOverBytes();
        return;
      }
      // One that was paused again before this event is being read nevertheless: its reader must be notified once more.
      if (this.#socket.isPaused()) this.#socket.emit('pause');
      else this.#socket.pause();
    });
  }

  #takeOverBytes(): void {
    const socket = this.#socket;
    if (socket.destroyed || this.#parse !== undefined) return;
    // The listeners of Node's HTTP server, which were added last.
    const parse = socket.listeners('data').at(-1) as Parse | undefined;
    const finish = socket.listeners('end').at(-1) as (() => void) | undefined;
    if (parse === undefined || finish === undefined) return;
    this.#parse = parse;
    this.#finish = finish;
    socket.off('data', parse).off('end', finish);
    socket.on('end', () => {
      this.#hasEnded = true;
      this.advance();
    });
    socket.on('data', (bytes: Buffer) => {
      if (this.#isRefused) return;
      this.#rest = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
      this.advance();
    });
  }
}
