import { createTestClient } from './grpc-client';
import type { Service } from './service';

/** What a load was told. */
export interface PacedAnswers {
  admitted: number;
  refused: number;
  failed: number;
  /** Milliseconds of each call, shortest first. */
  readonly tookMs: number[];
}

const CODES: Readonly<Record<string, 'admitted' | 'refused'>> = {
  OK: 'admitted',
  OVER_LIMIT: 'refused',
};

/** Asks the same so often a second for so long, each call by itself, whether those before it are answered or not. */
export async function askPaced(
  { grpc }: Service,
  request: object,
  { perSecond, forMs }: { readonly perSecond: number; readonly forMs: number },
): Promise<PacedAnswers> {
  const client = createTestClient(grpc);
  const answers: PacedAnswers = { admitted: 0, refused: 0, failed: 0, tookMs: [] };
  const waiting: Promise<void>[] = [];
  const askOne = async (): Promise<void> => {
    const startMs = performance.now();
    const { response } = await client.ask(request);
    answers.tookMs.push(performance.now() - startMs);
    const { overallCode = '' } = (response ?? {}) as { readonly overallCode?: string };
    answers[CODES[overallCode] ?? 'failed'] += 1;
  };
  const startMs = performance.now();
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const elapsedMs = Math.min(performance.now() - startMs, forMs);
      while (waiting.length < (elapsedMs * perSecond) / 1_000) waiting.push(askOne());
      if (elapsedMs < forMs) return;
      clearInterval(timer);
      resolve();
    }, 2);
  });
  await Promise.all(waiting);
  client.close();
  answers.tookMs.sort((one, other) => one - other);
  return answers;
}

/** The time that so many of a hundred calls took at most. */
export function percentile({ tookMs }: PacedAnswers, percent: number): number {
  return tookMs[Math.floor((tookMs.length * percent) / 100)] ?? 0;
}
