// A model that only counts: POST /v1/chat/completions as OpenAI has it, whole with `usage` or as a stream of events, whose last
// has the `usage` when `stream_options.include_usage` asks for it.
// It says as many words as the first number in the last message (10 without one), at most `max_tokens`; each word is a token.
// The model `slow` takes 50 ms for a word, `broken` answers 503, `cut` ends its connection in the middle of the answer.
import { createServer } from 'node:http';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

const WORDS_BY_DEFAULT = 10;
const MS_PER_WORD = { slow: 50 };
const countWords = (message) => message.split(/\s+/).filter(Boolean).length;

function plan({ messages = [], max_tokens: most = Infinity, stream_options: options }) {
  const asked = Number(/\d+/.exec(messages.at(-1)?.content ?? '')?.[0] ?? WORDS_BY_DEFAULT);
  const prompt = messages.reduce((sum, { content }) => sum + countWords(content), 0);
  const words = Math.min(asked, most);
  return {
    words,
    endsInUsage: options?.include_usage === true,
    usage: { prompt_tokens: prompt, completion_tokens: words, total_tokens: prompt + words },
  };
}

async function answerWhole(response, model, { words, usage }) {
  await delay(words * (MS_PER_WORD[model] ?? 0));
  const message = { role: 'assistant', content: 'word '.repeat(words).trim() };
  const body = JSON.stringify({ model, choices: [{ index: 0, message }], usage });
  response.writeHead(200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  if (model !== 'cut') return response.end(body);
  response.write(body.slice(0, body.length / 2), () => response.destroy());
}

async function answerInEvents(response, model, { words, usage, endsInUsage }) {
  const send = (event) => response.write(`data: ${event}\n\n`);
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (let word = 0; word < words; word += 1) {
    if (model === 'cut' && word >= words / 2) return response.destroy();
    send(JSON.stringify({ model, choices: [{ index: 0, delta: { content: 'word ' } }] }));
    await delay(MS_PER_WORD[model] ?? 0);
    if (response.destroyed) return;
  }
  if (endsInUsage) send(JSON.stringify({ model, choices: [], usage }));
  response.end('data: [DONE]\n\n');
}

const server = createServer(async (request, response) => {
  try {
    const question = JSON.parse(await text(request));
    if (question.model === 'broken') {
      response.writeHead(503, { 'content-type': 'application/json' });
      return response.end('{"error":{"message":"the model is away"}}');
    }
    const answer = question.stream === true ? answerInEvents : answerWhole;
    await answer(response, question.model, plan(question));
  } catch (error) {
    if (!response.headersSent) response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: error.message } }));
  }
});
server.listen(Number(process.env.PORT ?? 10001), process.env.HOST);
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit());
