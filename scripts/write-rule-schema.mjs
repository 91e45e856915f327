// Writes weir-rules.schema.json, which editors read for rule files.
import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { format } from 'prettier';

const { RULE_SCHEMA } = createRequire(import.meta.url)(
  '../dist/src/core/rules/parse/rule-schema.js',
);
const path = fileURLToPath(new URL('../weir-rules.schema.json', import.meta.url));
writeFileSync(path, await format(JSON.stringify(RULE_SCHEMA), { parser: 'json', printWidth: 100 }));
