// npm run demo -- NAME: an example with all that it needs and load that varies, until Ctrl-C; without a name `envoy`.
// --any-port takes free ports only; otherwise the usual ones are taken where they are free.
import { parseArgs } from 'node:util';
import { playEnvoy } from './demos/envoy.mjs';
import { playLlm } from './demos/llm.mjs';
import { playProxy } from './demos/proxies.mjs';
import { createStage } from './demos/stage.mjs';

const DEMOS = {
  envoy: playEnvoy,
  llm: playLlm,
  nginx: playProxy('nginx'),
  caddy: playProxy('caddy'),
};

function readCommandLine() {
  const { values, positionals } = parseArgs({
    options: { 'any-port': { type: 'boolean', default: false } },
    allowPositionals: true,
  });
  const [name = 'envoy', ...more] = positionals;
  if (more.length > 0 || !Object.hasOwn(DEMOS, name))
    throw new Error(
      `there is no demo "${positionals.join(' ')}", expected one of ${Object.keys(DEMOS).join(', ')}`,
    );
  return { play: DEMOS[name], anyPort: values['any-port'] };
}

async function main() {
  const { play, anyPort } = readCommandLine();
  const stage = createStage(anyPort);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
    process.on(signal, () => void stage.stop(0));
  await play(stage).catch((error) => stage.stop(1, error.message));
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
