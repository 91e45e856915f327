import type { Answer, Asker } from '../../src/core/ports';

/** An asker that keeps what it was answered, by ticket, and refuses to be answered twice. */
export interface RecordingAsker extends Asker {
  readonly answers: ReadonlyMap<number, Answer>;
}

export function recordingAsker(): RecordingAsker {
  const answers = new Map<number, Answer>();
  return {
    answers,
    answer(ticket, answer) {
      if (answers.has(ticket)) throw new Error(`ticket ${String(ticket)} was answered twice`);
      answers.set(ticket, answer);
    },
  };
}
