// Lets a plain Node process or worker thread run our TypeScript: node --require this-file PROGRAM
const { readFileSync } = require('node:fs');
const ts = require('typescript');

const compilerOptions = {
  module: ts.ModuleKind.CommonJS,
  target: ts.ScriptTarget.ES2023,
  esModuleInterop: true,
};

require.extensions['.ts'] = (module, fileName) => {
  const { outputText } = ts.transpileModule(readFileSync(fileName, 'utf8'), {
    compilerOptions,
    fileName,
  });
  module._compile(outputText, fileName);
};
