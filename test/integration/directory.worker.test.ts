import { parseInTypescriptWorker } from '../support/parse-in-typescript-worker';
import { followFiles } from '../support/edge/follow-files';
import type { FollowedRules } from '../support/followed-rules';
import { manyRules } from '../support/many-rules';
import {
  createTemporaryDirectory,
  ruleText,
  type TemporaryDirectory,
} from '../support/rule-directory';

let directory: TemporaryDirectory;
let followed: FollowedRules | undefined;

beforeEach(() => {
  directory = createTemporaryDirectory();
});
afterEach(() => {
  followed?.stop();
  followed = undefined;
  directory.remove();
});

describe('a thread that parses', () => {
  it('does the reloads', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    followed = followFiles({ root: directory.at('root') }, parseInTypescriptWorker());
    expect(await followed.loaded(1)).toBe('shop=5');
    directory.write('root/config/shop.yaml', ruleText(6));
    directory.write('root/config/web.yaml', `${ruleText(7, 'web')}---\n`);
    expect(await followed.loaded(2)).toBe('shop=6 web=7');
    directory.write('root/config/web.yaml', ruleText(7, ''));
    expect(await followed.loaded(3)).toMatch(/^error web\.yaml: the file has no domain/);
  });

  it('leaves the last rules alone when it runs out of memory', async () => {
    directory.write('root/config/shop.yaml', ruleText(5));
    const parse = parseInTypescriptWorker({ maxMemoryMb: 64 });
    followed = followFiles({ root: directory.at('root') }, parse);
    await followed.loaded(1);
    directory.write('root/config/many.yaml', manyRules(40_000, 1));
    expect(await followed.loaded(2)).toBe(
      'error : parsing the rule files takes more than 64 MiB of memory: expected fewer or smaller files',
    );
  }, 60_000);
});
