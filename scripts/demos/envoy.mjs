// examples/envoy: Redis, the service, and Envoy in front of a small upstream.
import { Agent, get } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { playWithEnvoy } from './programs.mjs';

/** Users in a hurry and users who are not, in waves. */
async function sendLoad(stage, url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  const users = ['ann', 'ben', 'cem', 'dia', 'batch'];
  while (!stage.isStopping()) {
    const perSecond = 12 + 10 * Math.sin(Date.now() / 5_000);
    const user = users[Math.floor(users.length * Math.random() ** 2)];
    const path = `/item/${Math.floor(50 * Math.random())}`;
    get(`${url}${path}`, { agent, headers: { 'x-user': user } }, (answer) => answer.resume()).on(
      'error',
      () => undefined,
    );
    await delay(1_000 / perSecond);
  }
}

export async function playEnvoy(stage) {
  const url = await playWithEnvoy(stage, {
    ...{ folder: 'envoy', rules: 'demo.yaml', upstream: '127.0.0.1' },
    say: ({ envoy }) => `  The fourth of these in a minute is over the limit:

  curl -i http://localhost:${envoy}/login`,
  });
  await sendLoad(stage, url);
}
