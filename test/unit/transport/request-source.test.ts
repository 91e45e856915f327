import { promisify } from 'node:util';
import type { PendingRequest, Responder } from '../../../src/core/ports';
import { createRequestBatches, createRequestSource } from '../../../src/transport/request-source';
import { recordingResponder } from '../../support/recording-responder';
import { request } from '../../support/requests';

function pendingRequestsOf(count: number) {
  const responder = recordingResponder();
  const pendingRequests = Array.from({ length: count }, (_, callId): PendingRequest => ({
    request: request('d', ['k=v']),
    responder,
    callId,
  }));
  return { responder, pendingRequests };
}

/** Lets the turn of the event loop end. */
const turn = promisify(setImmediate);
const DRAINING = expect.objectContaining({ code: 'draining' }) as unknown;

describe('a source of questions', () => {
  it('emits the questions of one turn together', async () => {
    const source = createRequestSource();
    const { pendingRequests } = pendingRequestsOf(3);
    const batches: (readonly PendingRequest[])[] = [];
    source.requests$.subscribe((batch) => batches.push(batch));
    pendingRequests.slice(0, 2).forEach(source.ask);
    expect(batches).toEqual([]);
    await turn();
    pendingRequests.slice(2).forEach(source.ask);
    await turn();
    expect(batches).toEqual([pendingRequests.slice(0, 2), pendingRequests.slice(2)]);
  });

  it('answers for itself when nobody takes questions', async () => {
    const source = createRequestSource();
    const { responder, pendingRequests } = pendingRequestsOf(2);
    pendingRequests.slice(0, 1).forEach(source.ask);
    await turn();
    expect(responder.answers.get(0)).toEqual(DRAINING);
    const subscription = source.requests$.subscribe();
    pendingRequests.slice(1).forEach(source.ask);
    subscription.unsubscribe();
    await turn();
    expect(responder.answers.get(1)).toEqual(DRAINING);
  });

  it('hands on what it holds when it closes, completes, and takes nothing more', () => {
    const source = createRequestSource();
    const { responder, pendingRequests } = pendingRequestsOf(2);
    const heard: unknown[] = [];
    source.requests$.subscribe({
      next: (batch) => heard.push(batch),
      complete: () => heard.push('complete'),
    });
    pendingRequests.slice(0, 1).forEach(source.ask);
    source.close();
    expect(heard).toEqual([pendingRequests.slice(0, 1), 'complete']);
    pendingRequests.slice(1).forEach(source.ask);
    expect([...responder.answers]).toEqual([[1, DRAINING]]);
    source.requests$.subscribe({ complete: () => heard.push('late') });
    expect(heard.at(-1)).toBe('late');
  });

  it('has one subscriber at a time', () => {
    const source = createRequestSource();
    const first = source.requests$.subscribe();
    const errors: unknown[] = [];
    source.requests$.subscribe({ error: (error: unknown) => errors.push(error) });
    expect(errors).toEqual([new Error('requests$ has a subscriber already')]);
    first.unsubscribe();
    source.requests$.subscribe({ error: (error: unknown) => errors.push(error) });
    expect(errors).toHaveLength(1);
  });
});

describe('a source of batches', () => {
  it('answers `draining` when nobody takes questions', () => {
    const answers: [number, string][] = [];
    const responder: Responder = {
      answer: (callId, answer) => {
        answers.push([callId, answer.kind === 'failure' ? answer.code : 'decision']);
        return true;
      },
    };
    const request = { domain: '', descriptors: [], hitsAddend: 0 };
    createRequestBatches().ask([7, 8].map((callId) => ({ request, responder, callId })));
    expect(answers).toEqual([
      [7, 'draining'],
      [8, 'draining'],
    ]);
  });
});
