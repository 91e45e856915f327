import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { toPlace } from '../../src/app/rules/rule-source';
import { readSettings } from '../../src/settings/settings';
import { followRules } from '../support/followed-rules';
import recorded from './rule-layouts.json';

/** A path that ends in / is a directory; `->` stands before what a link leads to, any other text is the domain of a file. */
type Layout = Readonly<Record<string, string>>;
type Answer = readonly string[] | 'ends' | 'refuses';
interface Row {
  readonly layout: string;
  readonly settings: Readonly<Record<string, string>>;
  readonly reference: Answer;
}

const layouts = recorded.layouts as Readonly<Record<string, Layout>>;
const rows = recorded.rows as readonly Row[];

let top: string;
beforeEach(() => {
  top = mkdtempSync(join(tmpdir(), 'layout-'));
});
afterEach(() => {
  rmSync(top, { recursive: true });
});

function lay(layout: Layout): void {
  for (const [path, content] of Object.entries(layout)) {
    const at = join(top, path);
    mkdirSync(path.endsWith('/') ? at : dirname(at), { recursive: true });
    if (content.startsWith('->')) symlinkSync(content.slice(2), at);
    else if (!path.endsWith('/')) writeFileSync(at, `domain: ${content}\ndescriptors: []\n`);
  }
}

/** The domains of the first load, or why it failed. */
async function answerOf({ layout, settings }: Row): Promise<Answer | 'no directory'> {
  lay(layouts[layout] ?? {});
  const read = readSettings({ ...settings, RUNTIME_ROOT: join(top, 'root') });
  if (!read.ok) throw new Error(read.problems.join('\n'));
  const followed = followRules(toPlace(read.settings.configuration));
  await followed.counted(1);
  followed.stop();
  const [load] = followed.loads;
  if (load?.ok === true) return [...load.rules.domains.keys()].sort();
  return load?.problems.some((problem) => problem.class === 'no-directory') === true
    ? 'no directory'
    : 'refuses';
}

interface Difference {
  readonly layout: string;
  readonly isAt?: (settings: Row['settings']) => boolean;
  readonly weir: readonly string[];
}

const withoutSubdirectory = (settings: Row['settings']) =>
  !('RUNTIME_SUBDIRECTORY' in settings) && settings['RUNTIME_WATCH_ROOT'] !== 'false';
const ofPath = (settings: Row['settings']) =>
  /^\.|\//.test(settings['RUNTIME_APPDIRECTORY'] ?? '') &&
  settings['RUNTIME_WATCH_ROOT'] !== 'false';
const inSub = (settings: Row['settings']) => settings['RUNTIME_SUBDIRECTORY'] === 'sub';

/** What is different on purpose, each a row of docs/replacing-the-reference.md. */
const DIFFERENCES: Readonly<Record<string, readonly Difference[]>> = {
  'nothing is read without RUNTIME_SUBDIRECTORY': [
    { layout: 'config.yaml in the root', isAt: withoutSubdirectory, weir: ['a'] },
    { layout: 'the directory in the root', isAt: withoutSubdirectory, weir: ['a'] },
    { layout: 'a ConfigMap with config.yaml at the root', isAt: withoutSubdirectory, weir: ['a'] },
    { layout: 'a root that is a link, with config.yaml', isAt: withoutSubdirectory, weir: ['a'] },
  ],
  'nothing is read in a RUNTIME_APPDIRECTORY that is a path': [
    { layout: 'the directory', isAt: ofPath, weir: ['a'] },
    { layout: 'directories below the directory', isAt: ofPath, weir: ['a', 'b'] },
  ],
  'links to directories are not followed': [
    {
      layout: 'a root that is a link, with config.yaml',
      isAt: (settings) => settings['RUNTIME_SUBDIRECTORY'] === '.',
      weir: ['a'],
    },
    { layout: 'a subdirectory that is a link', isAt: inSub, weir: ['a'] },
    { layout: 'a directory that is a link', isAt: inSub, weir: ['a'] },
    { layout: 'a link to a directory within', isAt: inSub, weir: ['a'] },
    { layout: 'a ConfigMap with a directory', isAt: inSub, weir: ['a'] },
  ],
  'hidden directories are read': [
    { layout: 'a hidden directory', isAt: inSub, weir: ['a'] },
    { layout: 'a ConfigMap at the directory', isAt: inSub, weir: ['a'] },
  ],
};

function findDifference({ layout, settings }: Row): Difference | undefined {
  return Object.values(DIFFERENCES)
    .flat()
    .find((each) => each.layout === layout && each.isAt?.(settings) !== false);
}

it.each(rows.map((row) => [row.layout, row.settings, row] as const))(
  'reads the files of %s with %j as it was recorded of the reference, or as its difference says',
  async (_layout, _settings, row) => {
    const { reference } = row;
    const weir = await answerOf(row);
    const isNothing = reference === 'ends' || reference.length === 0;
    // Nothing is read there either: it ends, or allows every request.
    if (weir === 'no directory' && isNothing) return;
    expect(weir).toEqual(findDifference(row)?.weir ?? reference);
  },
);

it('has no difference that nothing shows', () => {
  const shown = rows
    .filter((row) => JSON.stringify(findDifference(row)?.weir) !== JSON.stringify(row.reference))
    .map(findDifference);
  expect(
    Object.values(DIFFERENCES)
      .flat()
      .filter((each) => !shown.includes(each)),
  ).toEqual([]);
});
