import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from './eventually';
import {
  startModelBehindEnvoy,
  type Asking,
  type ModelAnswer,
  type ModelBehindEnvoy,
  type Question,
} from './model-behind-envoy';
import { startService, type JsonAnswer, type Service } from './service';

/** A model that writes its usage into the last event. */
export const STREAM = { stream: true, stream_options: { include_usage: true } };

export interface TokenStageOptions {
  readonly envoy: string;
  /** Of the domain `llm`. */
  readonly rules: string;
  /** The port of Redis; counters in memory when undefined. */
  readonly redisPort?: number | undefined;
  /** Of the example's Envoy. */
  readonly edit?: ((config: string) => string) | undefined;
}

/** The built service, and the Envoy and the model of `examples/llm` that ask it. */
export interface TokenStage {
  readonly service: Service;
  readonly llm: ModelBehindEnvoy;
  /** Asks the model, and counts that Envoy asks twice for it: before and after. */
  ask(question: Question, asking?: Asking): Promise<ModelAnswer>;
  /** What is left of a user's limit, as a call says that adds nothing. */
  leftOf(user: string): Promise<number>;
  /** The same once all calls of Envoy were answered. */
  leftOnceSettled(user: string): Promise<number>;
  /** A figure of /stats; 0 when it does not exist yet. */
  statistic(name: string): Promise<number>;
  stop(): Promise<void>;
}

export async function startTokenStage(options: TokenStageOptions): Promise<TokenStage> {
  const { envoy, rules, redisPort, edit } = options;
  const root = mkdtempSync(join(tmpdir(), 'weir-llm-'));
  mkdirSync(join(root, 'config'));
  writeFileSync(join(root, 'config/llm.yaml'), rules);
  const kvstore = { KVSTORE_URL: `127.0.0.1:${String(redisPort)}`, KVSTORE_TIMEOUT: '20s' };
  const service = await startService({
    env: { RUNTIME_ROOT: root, ...(redisPort !== undefined && kvstore) },
    waitUntilUp: redisPort === undefined ? true : 'connected',
  });
  const llm = await startModelBehindEnvoy(envoy, service.grpc, edit);
  let calls = 0;
  const leftOf = async (user: string) => {
    const descriptors = [{ entries: [{ key: 'user', value: user }], hitsAddend: '0' }];
    const response = await fetch(`${service.http}/json`, {
      method: 'POST',
      body: JSON.stringify({ domain: 'llm', descriptors }),
    });
    const { statuses = [] } = (await response.json()) as JsonAnswer['body'];
    return statuses[0]?.limitRemaining ?? 0;
  };
  return {
    service,
    llm,
    leftOf,
    ask(question, asking) {
      calls += 2;
      return llm.ask(question, asking);
    },
    async leftOnceSettled(user) {
      await eventually(async () => {
        expect(await llm.counter('cluster.ratelimit.upstream_rq_completed')).toBe(calls);
      });
      return leftOf(user);
    },
    async statistic(name) {
      const text = await (await fetch(`${service.debug}/stats`)).text();
      const start = `${name}: `;
      const line = text.split('\n').find((one) => one.startsWith(start));
      return Number(line?.slice(start.length) ?? '0');
    },
    async stop() {
      await llm.stop();
      await service.stop('SIGKILL');
      rmSync(root, { recursive: true });
    },
  };
}
