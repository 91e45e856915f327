// examples/llm: Redis, the service, a small model, and Envoy that holds and settles its tokens.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { playWithEnvoy } from './programs.mjs';
import { HOST } from './stage.mjs';

const STREAM = { stream: true, stream_options: { include_usage: true } };

/** What the users want: some keep to their limits, some go over each of them, some leave in the middle. */
const USERS = [
  { user: 'ann', everyMs: 2_000, model: 'small', max_tokens: 300, words: 150 },
  { user: 'ben', everyMs: 1_500, model: 'small', max_tokens: 1_500, words: 900, ...STREAM },
  { user: 'cem', everyMs: 400, model: 'slow', max_tokens: 100, words: 60, ...STREAM },
  { user: 'dia', everyMs: 3_000, model: 'large', max_tokens: 200, words: 100 },
  { user: 'eva', everyMs: 5_000, model: 'cut', max_tokens: 400, words: 40, ...STREAM },
];

async function sendLoad(stage, url, { user, everyMs, words, ...question }) {
  const body = JSON.stringify({
    ...question,
    messages: [{ role: 'user', content: `say ${words} words` }],
  });
  const headers = { 'content-type': 'application/json', 'x-user': user };
  while (!stage.isStopping()) {
    fetch(url, { method: 'POST', headers, body })
      .then((answer) => answer.arrayBuffer())
      .catch(() => undefined);
    await delay(everyMs * (0.5 + Math.random()));
  }
}

export async function playLlm(stage) {
  const url = await playWithEnvoy(stage, {
    ...{ folder: 'llm', rules: 'llm.yaml', upstream: 'model' },
    start(example, { upstream }) {
      const place = { PORT: upstream, HOST };
      stage.start('the model', process.execPath, [join(example, 'model.mjs')], place);
    },
    say: ({ envoy }) =>
      `  The fourth of these within ten seconds is refused, for three cost 8,709 of 10,000 tokens a minute:

  curl -i http://localhost:${envoy}/v1/chat/completions -H 'x-user: you' -H 'content-type: application/json' \\
    -d '{"model":"small","max_tokens":3000,"messages":[{"role":"user","content":"say 2900 words"}]}'`,
  });
  const address = `${url}/v1/chat/completions`;
  await Promise.all(USERS.map((user) => sendLoad(stage, address, user)));
}
