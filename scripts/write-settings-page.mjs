// Writes docs/settings.md from the built tables: npm run build && node scripts/write-settings-page.mjs
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const { settingsPage } = createRequire(import.meta.url)('../dist/src/settings/settings-page.js');
writeFileSync(new URL('../docs/settings.md', import.meta.url), settingsPage());
