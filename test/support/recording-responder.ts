import type { Answer, Responder } from '../../src/core/ports';

/** A responder that keeps what it was answered, by call id, and refuses to be answered twice. */
export interface RecordingResponder extends Responder {
  readonly answers: ReadonlyMap<number, Answer>;
}

export function recordingResponder(): RecordingResponder {
  const answers = new Map<number, Answer>();
  return {
    answers,
    answer(callId, answer) {
      if (answers.has(callId)) throw new Error(`call id ${String(callId)} was answered twice`);
      answers.set(callId, answer);
      return true;
    },
  };
}
