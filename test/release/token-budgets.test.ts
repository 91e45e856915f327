import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { stopEnvoys } from '../support/edge/envoy';
import { eventually } from '../support/edge/eventually';
import { LLM_EXAMPLE, type Question } from '../support/edge/model-behind-envoy';
import { PROGRAMS } from '../support/edge/programs';
import { startRedisServer, type RedisServer } from '../support/edge/redis-server';
import { stopServices } from '../support/edge/service';
import { startTokenStage, STREAM, type TokenStage } from '../support/edge/token-stage';

/** No window of it ends while a test runs. */
const BUDGET = 100_000;
const TOKENS = `
domain: llm
descriptors:
  - key: user
    rate_limit: { unit: year, requests_per_unit: ${String(BUDGET)} }
    reserve: { lease: 1h }
    descriptors:
      - key: model
        value: forbidden
        rate_limit: { unit: year, requests_per_unit: 0 }
`;
const EXAMPLE_RULES = readFileSync(join(LLM_EXAMPLE, 'config/llm.yaml'), 'utf8');
const CUT = { words: 40, model: 'cut', max_tokens: 500 };

const program = PROGRAMS.envoy();
const whereEnvoyIs = program === undefined ? describe.skip : describe;

let redis: RedisServer;
let stage: TokenStage;
beforeAll(async () => {
  redis = await startRedisServer();
});
afterAll(async () => {
  await stopEnvoys();
  await stopServices();
  await redis.stop();
});

/** One stage for all tests of a group, in which each has users of its own. */
function playOn(rules: string, { store = 'Redis', edit = (config: string) => config } = {}): void {
  beforeAll(async () => {
    const redisPort = store === 'Redis' ? redis.port : undefined;
    stage = await startTokenStage({ envoy: program ?? '', rules, redisPort, edit });
  });
  afterAll(async () => {
    await stage.stop();
    await redis.client.flushall();
  });
}

let users = 0;
const newUser = () => `user-${String(++users)}`;

whereEnvoyIs('tokens of a model behind Envoy 1.40', () => {
  describe.each(['memory', 'Redis'])('with counters in %s', (store) => {
    playOn(TOKENS, { store });

    it.each<[string, Question, status: number, charged: number]>([
      ['what an answer did cost', { words: 7, max_tokens: 500 }, 200, 10],
      ['what a stream did cost', { words: 7, max_tokens: 500, ...STREAM }, 200, 10],
      ['more than was held, where it was more', { words: 1500 }, 200, 1503],
      ['nothing for a 503', { words: 7, model: 'broken' }, 503, 0],
      ['nothing for a 503 of a stream', { words: 7, model: 'broken', ...STREAM }, 503, 0],
      ['nothing for a refused request', { words: 7, max_tokens: BUDGET + 1 }, 429, 0],
      ['nothing for a refused stream', { words: 7, max_tokens: BUDGET + 1, ...STREAM }, 429, 0],
      ['nothing where another rule refuses', { words: 7, model: 'forbidden' }, 429, 0],
      ['nothing for a cut answer, a 502', CUT, 502, 0],
      ['what was held, for a cut stream', { ...CUT, ...STREAM }, 200, 500],
      ['what was held, for a stream without usage', { words: 7, stream: true }, 200, 1000],
    ])('charges %s', async (_what, question, status, charged) => {
      const user = newUser();
      expect((await stage.ask(question, { user })).status).toBe(status);
      expect(await stage.leftOnceSettled(user)).toBe(BUDGET - charged);
    });

    it('holds the estimate while the answer is under way', async () => {
      const user = newUser();
      const question = { words: 20, model: 'slow', max_tokens: 500, ...STREAM };
      const asked = stage.ask(question, { user });
      await eventually(async () => {
        expect(await stage.leftOf(user)).toBe(BUDGET - 500);
      });
      const { headers } = await asked;
      expect(headers.get('x-ratelimit-remaining')).toBe(String(BUDGET - 500));
      expect(await stage.leftOnceSettled(user)).toBe(BUDGET - 23);
    });

    it('charges each of parallel requests whose client gives all of them one id', async () => {
      const user = newUser();
      const headers = { 'x-request-id': 'mine', 'x-weir-id': 'mine' };
      const asked = Array.from({ length: 10 }, () =>
        stage.ask({ words: 7, ...STREAM }, { user, headers }),
      );
      const answers = await Promise.all(asked);
      expect(answers.map(({ status }) => status)).toEqual(Array(10).fill(200));
      expect(await stage.leftOnceSettled(user)).toBe(BUDGET - 100);
    });
  });

  describe('where nothing settles a cut stream', () => {
    const second = / *- actions: \*settle\n +apply_on_stream_done: true\n/;
    playOn(TOKENS.replace('lease: 1h', 'lease: 1s'), {
      edit: (config) => config.replace(second, ''),
    });

    it('charges what was held at the end of its lease', async () => {
      const user = newUser();
      await stage.ask({ ...CUT, ...STREAM }, { user });
      await eventually(async () => {
        expect(await stage.leftOf(user)).toBe(BUDGET - 500);
        expect(await stage.statistic('ratelimit.service.rate_limit.llm.user.lapsed')).toBe(500);
      });
      // Once, and not again.
      expect(await stage.leftOf(user)).toBe(BUDGET - 500);
    });
  });

  const statusesOf = async (question: Question, times: number) => {
    const user = newUser();
    const statuses: (string | number | null)[] = [];
    for (let i = 0; i < times; i++) {
      const { status, headers } = await stage.ask(question, { user });
      statuses.push(status, ...(status === 429 ? [headers.get('x-ratelimit-limit')] : []));
    }
    return statuses;
  };
  const expensive = { words: 2900, max_tokens: 3000 };

  describe('with the rules of the example', () => {
    playOn(EXAMPLE_RULES);

    it('refuses by tokens per minute', async () => {
      const statuses = await statusesOf(expensive, 4);
      expect(statuses).toEqual([200, 200, 200, 429, '10000, 10000;w=60, 300;w=60']);
    });

    it('refuses the fifth of five requests at once, and keeps no slot', async () => {
      const user = newUser();
      const question = { words: 20, model: 'slow', max_tokens: 100, ...STREAM };
      const askAtOnce = (count: number) =>
        Promise.all(Array.from({ length: count }, () => stage.ask(question, { user })));
      const answers = await askAtOnce(5);
      expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 429]);
      const refused = answers.find(({ status }) => status === 429);
      expect(refused?.headers.get('x-ratelimit-limit')).toMatch(/^4\b/);
      await stage.leftOnceSettled(user);
      expect((await askAtOnce(4)).map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    });

    it('refuses the eleventh request of the large model in a minute', async () => {
      // A minute may end between two of them.
      await eventually(async () => {
        const statuses = await statusesOf({ words: 1, model: 'large' }, 11);
        expect(statuses.slice(9)).toEqual([200, 429, '10, 10;w=60']);
      });
    });
  });

  describe('with the rules of the example and fewer tokens a day', () => {
    playOn(EXAMPLE_RULES.replace('200000', '5000'));

    it('refuses by tokens per day, which are charged together with those per minute', async () => {
      // A day may end between the two.
      await eventually(async () => {
        const statuses = await statusesOf(expensive, 2);
        expect(statuses).toEqual([200, 429, '5000, 5000;w=86400;name="daily", 300;w=60']);
      });
    });
  });
});
