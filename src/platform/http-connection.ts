import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ByteBudget, ByteHolder } from './byte-budget';
import type { HttpPipeline } from './http-pipeline';

/** Bytes at which a connection is ended, however much room the budget has. */
export const MAX_CONNECTION_BYTES = 16_777_216;
/** What one read of a socket brings at most: as much of a body may come with the headers. */
const READ_BYTES = 65_536;

/** A connection of an HTTP port: what it holds, how long it has not read, and the order of its answers. */
export class HttpConnection implements ByteHolder {
  heldBytes = 0;
  readonly #socket: Socket;
  readonly #budget: ByteBudget;
  readonly #pipeline: Pick<HttpPipeline, 'take' | 'close' | 'refuse' | 'waitingBytes'>;
  /** Answers that are not over, oldest first, with the bytes that had come before their request. */
  readonly #open = new Map<ServerResponse, number>();
  /** Bytes that had come when the last answer was over. */
  #settledBytes = 0;
  #flushedBytes = 0;
  #unreadMs = 0;
  /** Is written after the open answers, then the connection ends. */
  #refusal: string | undefined;

  constructor(
    socket: Socket,
    budget: ByteBudget,
    pipeline: Pick<HttpPipeline, 'take' | 'close' | 'refuse' | 'waitingBytes'>,
  ) {
    this.#socket = socket;
    this.#budget = budget;
    this.#pipeline = pipeline;
  }

  get openAnswers(): Iterable<ServerResponse> {
    return this.#open.keys();
  }

  /** A request has come. A connection that was refused before answers nothing more. */
  open(response: ServerResponse): void {
    if (this.#refusal !== undefined) return;
    this.#open.set(response, Math.max(this.#settledBytes, this.#socket.bytesRead - READ_BYTES));
    this.#pipeline.take(response);
  }

  /** An answer is over: written whole, or given up. */
  close(response: ServerResponse): void {
    this.#open.delete(response);
    if (this.#open.size === 0) {
      this.#settledBytes = this.#socket.bytesRead;
      this.#writeRefusal();
    }
    this.#pipeline.close(response);
  }

  /**
   * Ends the connection with these bytes in place of an answer to something other than a whole request. They
   * wait for the answers to the requests before, which a client could not tell from them otherwise.
   */
  refuse(answer: string): void {
    if (this.#refusal !== undefined) return;
    this.#refusal = answer;
    this.#pipeline.refuse();
    const last = [...this.#open.keys()].at(-1);
    if (last !== undefined && !last.req.complete) {
      if (last.headersSent) this.#socket.destroy();
      this.#open.delete(last);
      this.#pipeline.close(last);
    }
    if (this.#open.size === 0) this.#writeRefusal();
  }

  /** An answer was handed to the socket. The whole count has to wait for the next `look`. */
  noteWritten(): void {
    const { writableLength } = this.#socket;
    if (writableLength > this.heldBytes) this.#report(writableLength);
  }

  /** Is called every `elapsedMs`. Ends a connection that lets bytes wait for `unreadMs`. */
  look(elapsedMs: number, unreadMs: number): void {
    const { writableLength } = this.#socket;
    const flushedBytes = writableLength === 0 ? 0 : this.#socket.bytesWritten - writableLength;
    const isStuck = writableLength > 0 && flushedBytes === this.#flushedBytes;
    this.#unreadMs = isStuck ? this.#unreadMs + elapsedMs : 0;
    this.#flushedBytes = flushedBytes;
    if (this.#unreadMs >= unreadMs) this.#budget.end(this);
    else this.#report(this.#countHeld());
  }

  end(): void {
    // A plain destroy would leave what the kernel holds for the peer in its memory.
    this.#socket.resetAndDestroy();
  }

  forget(): void {
    this.#budget.report(this, 0);
  }

  #report(bytes: number): void {
    if (bytes > MAX_CONNECTION_BYTES) this.#budget.end(this);
    else this.#budget.report(this, bytes);
  }

  /** Bytes that wait to be read, and those of requests that are not answered. */
  #countHeld(): number {
    let held = 0;
    let cameBefore: number | undefined;
    for (const [response, bytes] of this.#open) {
      cameBefore ??= bytes;
      // Of the oldest answer it includes what the socket holds.
      held += response.writableLength;
    }
    const waiting = this.#pipeline.waitingBytes;
    if (cameBefore === undefined) return this.#socket.writableLength + waiting;
    return held + waiting + this.#socket.bytesRead - cameBefore;
  }

  #writeRefusal(): void {
    if (this.#refusal === undefined) return;
    if (this.#socket.writable) this.#socket.end(this.#refusal);
    else this.#socket.destroy();
  }
}
