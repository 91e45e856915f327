import { readSettled } from '../../src/rule-sources/directory/follow-directory';
import { createTemporaryDirectory } from '../support/rule-directory';

const nowSeconds = () => Date.now() / 1_000;

it('reading a directory waits until a change is older than the tick that stamps files', async () => {
  const directory = createTemporaryDirectory();
  directory.write('config/a.yaml', 'first');
  const settled = await readSettled(
    {
      root: directory.path,
      subdirectory: '',
      appDirectory: 'config',
      ignoreDotFiles: false,
      maxBytes: 1_000,
    },
    undefined,
    nowSeconds,
    new AbortController().signal,
  );
  expect(nowSeconds() - (settled?.survey.changedAtSeconds ?? 0)).toBeGreaterThan(0.019);
  expect(settled?.isDoubtful).toBe(false);
  directory.remove();
});
