import { setImmediate as turn } from 'node:timers/promises';
import type { Question } from '../../../src/core/ports';
import { createQuestionSource } from '../../../src/transport/question-source';
import { recordingAsker } from '../../support/recording-asker';
import { request } from '../../support/requests';

function questionsOf(count: number) {
  const asker = recordingAsker();
  const questions = Array.from({ length: count }, (_, ticket): Question => ({
    request: request('d', ['k=v']),
    asker,
    ticket,
  }));
  return { asker, questions };
}

const DRAINING = expect.objectContaining({ code: 'draining' }) as unknown;

describe('a source of questions', () => {
  it('emits the questions of one turn together', async () => {
    const source = createQuestionSource();
    const { questions } = questionsOf(3);
    const batches: (readonly Question[])[] = [];
    source.questions$.subscribe((batch) => batches.push(batch));
    questions.slice(0, 2).forEach(source.ask);
    expect(batches).toEqual([]);
    await turn();
    questions.slice(2).forEach(source.ask);
    await turn();
    expect(batches).toEqual([questions.slice(0, 2), questions.slice(2)]);
  });

  it('answers for itself when nobody takes questions', async () => {
    const source = createQuestionSource();
    const { asker, questions } = questionsOf(2);
    questions.slice(0, 1).forEach(source.ask);
    await turn();
    expect(asker.answers.get(0)).toEqual(DRAINING);
    const subscription = source.questions$.subscribe();
    questions.slice(1).forEach(source.ask);
    subscription.unsubscribe();
    await turn();
    expect(asker.answers.get(1)).toEqual(DRAINING);
  });

  it('hands on what it holds when it closes, completes, and takes nothing more', () => {
    const source = createQuestionSource();
    const { asker, questions } = questionsOf(2);
    const heard: unknown[] = [];
    source.questions$.subscribe({
      next: (batch) => heard.push(batch),
      complete: () => heard.push('complete'),
    });
    questions.slice(0, 1).forEach(source.ask);
    source.close();
    expect(heard).toEqual([questions.slice(0, 1), 'complete']);
    questions.slice(1).forEach(source.ask);
    expect([...asker.answers]).toEqual([[1, DRAINING]]);
    source.questions$.subscribe({ complete: () => heard.push('late') });
    expect(heard.at(-1)).toBe('late');
  });

  it('has one subscriber at a time', () => {
    const source = createQuestionSource();
    const first = source.questions$.subscribe();
    const errors: unknown[] = [];
    source.questions$.subscribe({ error: (error: unknown) => errors.push(error) });
    expect(errors).toEqual([new Error('questions$ has a subscriber already')]);
    first.unsubscribe();
    source.questions$.subscribe({ error: (error: unknown) => errors.push(error) });
    expect(errors).toHaveLength(1);
  });
});
