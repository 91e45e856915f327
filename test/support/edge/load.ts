import { setTimeout as delay } from 'node:timers/promises';
import { createTestClient, type CallResult } from './grpc-client';
import type { Service } from './service';

/** Calls that go on until `stop`. */
export interface Load {
  readonly answers: readonly CallResult[];
  /** Ends when the last answers are there, and says how many calls were answered and how many failed. */
  stop(): Promise<{ readonly good: number; readonly bad: number }>;
}

/** Between two calls of a connection: what is asked is to come from all sides all the time, not to fill the cores. */
const PAUSE_MS = 20;

/** Asks the same over so many connections, one call after another on each. */
export function startLoad({ grpc }: Service, request: object, connections: number): Load {
  const clients = Array.from({ length: connections }, () => createTestClient(grpc));
  const answers: CallResult[] = [];
  let isOver = false;
  const all = Promise.all(
    clients.map(async (client) => {
      while (!isOver) {
        answers.push(await client.ask(request));
        await delay(PAUSE_MS);
      }
    }),
  );
  return {
    answers,
    async stop() {
      isOver = true;
      await all;
      for (const client of clients) client.close();
      const good = answers.filter(({ code }) => code === 0).length;
      return { good, bad: answers.length - good };
    },
  };
}
