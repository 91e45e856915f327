// examples/nginx and examples/caddy: Redis, the service with /check, and the proxy that asks it.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Agent, request } from 'node:http';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT, SERVICE_PORTS, startService } from './programs.mjs';
import { HOST, untilReady } from './stage.mjs';

function programOf(name) {
  console.log(`  looking for ${name}; Caddy is compiled the first time, which takes minutes …`);
  const require = createRequire(import.meta.url);
  require('../../test/support/typescript-hook.cjs');
  const { toProxyConfig, PROXY_PROGRAMS } = require('../../test/support/edge/proxy-programs.ts');
  const path = PROXY_PROGRAMS[name].find();
  if (path === undefined) throw new Error(`the demo needs ${name}`);
  return { ...PROXY_PROGRAMS[name], path, toProxyConfig };
}

/** Logins and pages, in waves. */
async function sendLoad(stage, url) {
  const agent = new Agent({ keepAlive: true, maxSockets: 20 });
  while (!stage.isStopping()) {
    const perSecond = 12 + 10 * Math.sin(Date.now() / 5_000);
    const isLogin = Math.random() < 0.1;
    const method = isLogin ? 'POST' : 'GET';
    const path = isLogin ? '/login' : `/item/${Math.floor(50 * Math.random())}`;
    request(`${url}${path}`, { agent, method }, (answer) => answer.resume())
      .on('error', () => undefined)
      .end();
    await delay(1_000 / perSecond);
  }
}

export function playProxy(name) {
  return async (stage) => {
    const { path, file, words, toProxyConfig } = programOf(name);
    const ports = await stage.choosePorts({ proxy: 8000, upstream: 8001, ...SERVICE_PORTS });
    const example = join(ROOT, 'examples', name);
    await startService(stage, ports, example, { CHECK_CONFIG: join(example, 'check.yaml') });
    const written = join(stage.folder, 'proxy');
    const text = readFileSync(join(ROOT, 'examples', file), 'utf8');
    writeFileSync(written, toProxyConfig(text, { ...ports, weir: `${HOST}:${ports.http}` }));
    stage.start(name, path, words(written, stage.folder), { HOME: stage.folder });
    await untilReady(`http://${HOST}:${ports.proxy}`);
    console.log(`
  through ${name}  http://localhost:${ports.proxy}
  live view      http://localhost:${ports.debug}/ui
  rules          http://localhost:${ports.debug}/rlconfig (examples/${name}/config/demo.yaml)
  metrics        http://localhost:${ports.metrics}/metrics

  The fourth of these in a minute is over the limit:

  curl -i -X POST http://localhost:${ports.proxy}/login

  Ctrl-C stops everything.
`);
    await sendLoad(stage, `http://${HOST}:${ports.proxy}`);
  };
}
