import { realpathSync } from 'node:fs';
import { resolvePath } from '../../../../src/rule-sources/directory/survey';
import { createTemporaryDirectory, type TemporaryDirectory } from '../../../support/rule-directory';

let directory: TemporaryDirectory;
let start: string;
beforeEach(() => {
  directory = createTemporaryDirectory();
  start = realpathSync(directory.path);
});
afterEach(() => {
  directory.remove();
});
const resolve = async (path: string, watchedSteps = 0) => {
  const { real, obstacle, watched } = await resolvePath(start, path, watchedSteps);
  const short = (text: string | undefined) => text?.replace(start, '~');
  return {
    real: short(real),
    obstacle: obstacle && `${String(short(obstacle.path))} ${obstacle.code}`,
    watched: watched.map(([at, name]) => `${String(short(at))}:${name}`),
  };
};

describe('resolving a path', () => {
  beforeEach(() => {
    directory.write('a/b/c.yaml', '');
    directory.swapLink('link', 'a/b');
    directory.swapLink('absolute', directory.at('a'));
    directory.swapLink('a/up', '../link/../b');
    directory.swapLink('dangling', 'a/none');
    directory.swapLink('circle', 'circle');
  });

  it.each([
    ['a/b', 1, '~/a/b', ['~/a:b']],
    ['a//./b/', 2, '~/a/b', ['~:a', '~/a:b']],
    ['link', 0, '~/a/b', ['~:link', '~/a:b']],
    ['link/c.yaml', 0, '~/a/b/c.yaml', ['~:link', '~/a:b']],
    ['a/up', 0, '~/a/b', ['~/a:up', '~:link', '~/a:b', '~/a:b']],
  ])('follows %s (%i steps watched) to its end', async (path, steps, real, watched) => {
    expect(await resolve(path, steps)).toEqual({ real, obstacle: undefined, watched });
  });

  it('follows an absolute link from the root', async () => {
    const { real, watched } = await resolve('absolute/b');
    expect(real).toBe('~/a/b');
    expect(watched).toEqual(['~:absolute', '~:a']);
  });

  it.each([
    ['none', '~/none ENOENT', ['~:none']],
    ['a/none/deeper', '~/a/none ENOENT', ['~/a:none', '~:a']],
    ['dangling', '~/a/none ENOENT', ['~:dangling', '~/a:none', '~:a']],
    ['a/b/c.yaml/d', '~/a/b/c.yaml/d ENOTDIR', ['~/a/b/c.yaml:d', '~/a/b:c.yaml']],
  ])('says what is in the way of %s and what would clear it', async (path, obstacle, watched) => {
    const resolved = await resolve(path);
    expect(resolved).toMatchObject({ real: undefined, obstacle });
    expect(resolved.watched).toEqual(expect.arrayContaining(watched));
  });

  it('gives up on a circle of links', async () => {
    expect(await resolve('circle')).toMatchObject({ real: undefined, obstacle: '~/circle ELOOP' });
  });

  it('has another state when a link or the end is another', async () => {
    const states = [(await resolvePath(start, 'link', 0)).state];
    directory.write('v2/x', '');
    directory.swapLink('link', 'v2');
    states.push((await resolvePath(start, 'link', 0)).state);
    directory.swapLink('link', './v2');
    states.push((await resolvePath(start, 'link', 0)).state);
    expect(new Set(states).size).toBe(3);
    expect((await resolvePath(start, 'link', 0)).state).toBe(states[2]);
  });
});
