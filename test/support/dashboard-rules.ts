import { mkdir, mkdtemp, rename, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const LONGEST = `user_${'name-without-an-end'.repeat(6)}`;

const NARROW = `domain: narrow
descriptors:
  - key: ${LONGEST}
    detailed_metric: true
    shadow_mode: true
    rate_limit: { unit: month, requests_per_unit: 4000000000, name: a-long-name-of-a-limit }
    descriptors:
      - key: path
        value: /files/*
        descriptors:
          - key: method
            quota_mode: true
            rate_limit: { unit: second, requests_per_unit: 10 }
`;

/** A folder of rules of its own whose texts are hard to show; `write` puts them there again. */
export async function temporaryRules(texts: readonly string[] = [NARROW]) {
  const folder = await mkdtemp(join(tmpdir(), 'weir-dashboard-'));
  await mkdir(join(folder, 'config'));
  const write = async (text = NARROW): Promise<void> => {
    const draft = join(folder, 'narrow.draft');
    await writeFile(draft, text);
    await rename(draft, join(folder, 'config', 'narrow.yaml'));
  };
  for (const text of texts) await write(text);
  const env = { RUNTIME_ROOT: folder, RUNTIME_WATCH_ROOT: 'false' };
  return { folder, env, write, longest: LONGEST };
}
