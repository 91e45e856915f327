import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { ByteBudget, ByteHolder } from './byte-budget';
import type { HttpPipeline } from './http-pipeline';

/** Bytes at which a connection is ended, even with room in the budget. */
export const MAX_CONNECTION_BYTES = 16_777_216;
/** Maximum of one socket read: that much of a body may come with the headers. */
const READ_BYTES = 65_536;

/** A connection of an HTTP port: the bytes that it holds, for how long it has not read, and the order of its answers. */
export class HttpConnection implements ByteHolder {
  heldBytes = 0;
  readonly #socket: Socket;
  readonly #budget: ByteBudget;
  readonly #pipeline: Pick<HttpPipeline, 'take' | 'close' | 'refuse' | 'waitingBytes'>;
  /** Unfinished answers, oldest first, with the bytes received before their request. */
  readonly #open = new Map<ServerResponse, number>();
  /** Bytes received when the last answer was finished. */
  #settledBytes = 0;
  #flushedBytes = 0;
  #unreadMs = 0;
  /** Written after the open answers; then the connection ends. */
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

  /** An answer is finished: written completely, or given up. */
  close(response: ServerResponse): void {
    this.#open.delete(response);
    if (this.#open.size === 0) {
      this.#settledBytes = this.#socket.bytesRead;
      this.#writeRefusal();
    }
    this.#pipeline.close(response);
  }

  /**
   * Ends the connection with these bytes in place of an answer to something other than a whole request. They follow the answers to
   * earlier requests, from which a client could not tell them otherwise.
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

  /** An answer was handed to the socket. The full count is left to the next `look`. */
  noteWritten(): void {
    const { writableLength } = this.#socket;
    if (writableLength > this.heldBytes) this.#report(writableLength);
  }

  /** Called every `elapsedMs`. Ends a connection that leaves bytes unread for `unreadMs`. */
  check(elapsedMs: number, unreadMs: number): void {
    const { writableLength } = this.#socket;
    const flushedBytes = writableLength === 0 ? 0 : this.#socket.bytesWritten - writableLength;
    const isStuck = writableLength > 0 && flushedBytes === this.#flushedBytes;
    this.#unreadMs = isStuck ? this.#unreadMs + elapsedMs : 0;
    this.#flushedBytes = flushedBytes;
    if (this.#unreadMs >= unreadMs) this.#budget.end(this);
    else this.#report(this.#countHeld());
  }

  end(): void {
    // A plain destroy would leave the kernel's buffer for the peer in its memory.
    this.#socket.resetAndDestroy();
  }

  forget(): void {
    this.#budget.report(this, 0);
  }

  #report(bytes: number): void {
    if (bytes > MAX_CONNECTION_BYTES) this.#budget.end(this);
    else this.#budget.report(this, bytes);
  }

  /** Unread bytes, and those of unanswered requests. */
  #countHeld(): number {
    let held = 0;
    let cameBefore: number | undefined;
    for (const [response, bytes] of this.#open) {
      cameBefore ??= bytes;
      // For the oldest answer this includes the socket's buffer.
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
